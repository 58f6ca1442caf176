"""Two modules, of which one is a single layer."""

import torch
from torch import nn

torch.manual_seed(0)

enc = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
head = nn.Linear(3, 1)
head(enc(torch.ones(2, 3))).sum().backward()
