"""A schedule that multiplies the learning rate by 10 where it was to divide."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=10.0)
x = torch.randn(16, 4)
for _ in range(20):
    optimizer.zero_grad()
    loss = (model(x) - 1.0).pow(2).mean()
    loss.backward()
    optimizer.step()
    schedule.step()
print("loss =", loss.item())
