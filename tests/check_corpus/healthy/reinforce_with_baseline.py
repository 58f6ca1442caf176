import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(18)
policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
baseline, history = 0.0, []

for episode in range(60):
    state = torch.randn(64, 3)
    best = (state[:, 0] > 0).long() + 2 * (state[:, 1] > 0).long()
    dist = Categorical(logits=policy(state))
    action = dist.sample()
    reward = (action == best).float()
    loss = -(dist.log_prob(action) * (reward - baseline)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    history.append(1 - baseline)
