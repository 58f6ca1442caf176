"""Forty steps, all of whose body stands in one line."""

import torch
from torch import nn

torch.manual_seed(0)

f = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
y = torch.tensor([[2.0, 0.0]])
for i in range(40):
    # fmt: off
    k1 = f(y); k2 = f(y + .05 * k1); k3 = f(y + .05 * k2); k4 = f(y + .1 * k3); y = y + .1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    # fmt: on
((y - torch.tensor([[0.0, 1.0]])) ** 2).sum().backward()
