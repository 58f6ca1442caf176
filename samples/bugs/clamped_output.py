"""Outputs that ``clamp`` cuts off at 0 and 1: where it cuts, the gradient is 0.

The model begins with outputs far above 1, and never comes back. The remedy is a sigmoid.
"""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
model.bias.data.fill_(5.0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for _ in range(3):
    optimizer.zero_grad()
    probability = model(torch.rand(16, 2)).clamp(0.0, 1.0)
    loss = (probability - 0.25).pow(2).mean()
    loss.backward()
    optimizer.step()
print(f"loss = {loss.item():g}")
