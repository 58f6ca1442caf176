"""A residual block: its input is added to its output.

The gradient flows along both branches, and the two contributions meet before the block. The skip
connection has no factor, which is why networks with a hundred such blocks can be trained.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.narrow(F.relu(self.widen(self.norm(x))))


torch.manual_seed(0)
x = torch.randn(8, 4)
model = nn.Sequential(nn.Linear(4, 16), Block(16), nn.Linear(16, 1))
loss = model(x).pow(2).mean()
