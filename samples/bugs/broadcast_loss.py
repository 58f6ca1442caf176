"""Predictions [32, 1] minus targets [32]: a loss of all pairs, which only learns the mean.

Broadcasting makes a matrix of both, so that every prediction is compared with every target. The
remedy is ``model(x).squeeze(1)``.
"""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(32, 3)
target = x @ torch.tensor([1.0, -2.0, 0.5])
model = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(100):
    optimizer.zero_grad()
    loss = ((model(x) - target) ** 2).mean()
    loss.backward()
    optimizer.step()
print(f"loss = {loss.item():.2f}, and the variance of the targets is {target.var().item():.2f}")
