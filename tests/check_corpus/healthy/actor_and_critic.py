import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(79)
trunk = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
actor, critic = nn.Linear(32, 3), nn.Linear(32, 1)
parameters = [*trunk.parameters(), *actor.parameters(), *critic.parameters()]
optimizer = torch.optim.RMSprop(parameters, lr=3e-3)
history = []
for update in range(50):
    state = torch.randn(64, 4)
    features = trunk(state)
    policy, value = Categorical(logits=actor(features)), critic(features).squeeze(1)
    action = policy.sample()
    reward = (action == state[:, :3].argmax(dim=1)).float()
    advantage = reward - value
    actor_loss = -(policy.log_prob(action) * advantage.detach()).mean()
    loss = actor_loss + 0.5 * advantage.pow(2).mean() - 0.01 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, 0.5)
    optimizer.step()
    history.append(1 - reward.mean().item())
