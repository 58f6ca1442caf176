"""A layer that never learns: its bias keeps every unit below 0, and relu passes nothing back.

The gradients in front of that relu are exactly 0, not small: a dead layer, as a learning rate
that was too large leaves it behind.
"""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
with torch.no_grad():
    net[2].bias -= 10.0  # one bad step

loss = net(torch.randn(16, 4)).pow(2).mean()
loss.backward()

print("layers without a gradient:", [k for k in (0, 2, 4) if not net[k].weight.grad.any()])
