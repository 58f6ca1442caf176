import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(33)
actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
history = []
for update in range(12):
    with torch.no_grad():
        states = torch.randn(96, 4)
        old = Categorical(logits=actor(states))
        actions = old.sample()
        old_log_probs = old.log_prob(actions)
        rewards = (actions == 2).float()
    for epoch in range(4):
        dist = Categorical(logits=actor(states))
        values = critic(states).squeeze(1)
        advantages = (rewards - values).detach()
        ratio = (dist.log_prob(actions) - old_log_probs).exp()
        clipped = ratio.clamp(0.8, 1.2) * advantages
        policy_loss = -torch.min(ratio * advantages, clipped).mean()
        loss = policy_loss + 0.5 * (rewards - values).pow(2).mean() - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 0.5)
        optimizer.step()
    history.append(1 - rewards.mean().item())
