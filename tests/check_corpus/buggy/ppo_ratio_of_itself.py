import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(18)
actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)

for update in range(20):
    states = torch.randn(64, 4)
    dist = Categorical(logits=actor(states))
    actions = dist.sample()
    old_log_probs = dist.log_prob(actions)
    rewards = (actions == 2).float()
    values = critic(states).squeeze(1)
    advantages = (rewards - values).detach()

    ratio = torch.exp(dist.log_prob(actions) - old_log_probs)
    clipped = torch.clamp(ratio, 0.8, 1.2) * advantages
    policy_loss = -torch.min(ratio * advantages, clipped).mean()
    value_loss = (rewards - values).pow(2).mean()
    optimizer.zero_grad()
    (policy_loss + 0.5 * value_loss).backward()
    optimizer.step()
print(rewards.mean())
