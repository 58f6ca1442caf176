"""A trunk and three heads, with weights of the losses that are learned."""

import torch
from torch import nn

torch.manual_seed(0)

F = nn.functional
trunk = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 20))
cls, reg, box = nn.Linear(20, 4), nn.Linear(20, 1), nn.Linear(20, 4)
s = nn.Parameter(torch.zeros(3))
h = trunk(torch.randn(8, 10))
l1 = F.cross_entropy(cls(h), torch.randint(0, 4, (8,)))
l2 = F.mse_loss(reg(h).squeeze(1), torch.randn(8))
l3 = F.smooth_l1_loss(box(h), torch.randn(8, 4))
total = sum(torch.exp(-s[i]) * each + s[i] for i, each in enumerate([l1, l2, l3]))
total.backward()
