"""A network that reads what it gave out."""

import torch
from torch import nn

torch.manual_seed(0)

encoder = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
h = torch.zeros(2, 4)
for t in range(5):
    h = encoder(h + 1)[:, :4]
h.sum().backward()
