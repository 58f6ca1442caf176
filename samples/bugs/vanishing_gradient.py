"""A deep net of sigmoids: the loss stands still, and the first layers never learn.

The slope of a sigmoid is at most 1/4. Each of the eight layers multiplies the gradient by less.
"""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.linspace(-3, 3, 64).unsqueeze(1)
y = torch.sin(2 * x)

layers = [nn.Linear(1, 16), nn.Sigmoid()]
for _ in range(7):
    layers += [nn.Linear(16, 16), nn.Sigmoid()]
model = nn.Sequential(*layers, nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
before = model[0].weight.detach().clone()
for _ in range(100):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

moved = (model[0].weight - before).abs().max().item()
print(f"loss = {loss.item():.2f}; the first layer has moved by {moved:.0e}")
