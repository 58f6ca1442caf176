"""A learning rate that is too large: after the first step all units of the layer are 0 for ever."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=3.0)
x, y = torch.rand(64, 8), torch.full((64, 1), -20.0)
for _ in range(6):
    optimizer.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()
print(f"loss = {loss.item():.3g}")
