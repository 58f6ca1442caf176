import torch
import torch.nn as nn
import torch.nn.functional as F


def learn(loss, optimizer):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


torch.manual_seed(96)
actor = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
for_actor = torch.optim.Adam(actor.parameters(), lr=5e-3)
for_critic = torch.optim.Adam(critic.parameters(), lr=1e-2)
history = []
for step in range(60):
    state = torch.rand(64, 2) * 2 - 1
    with torch.no_grad():
        action = actor(state) + 0.5 * torch.randn(64, 1)
        reward = -((action - state[:, :1]) ** 2)
    learn(F.mse_loss(critic(torch.cat([state, action], dim=1)), reward), for_critic)
    learn(-critic(torch.cat([state, actor(state)], dim=1)).mean(), for_actor)
    history.append((actor(state) - state[:, :1]).pow(2).mean().item())
