"""Scaled dot-product attention, written out: three projections, a softmax, and a weighted sum.

``x`` is used three times, so its gradient is the sum of three contributions.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(-2, -1) / x.shape[-1] ** 0.5
        return F.softmax(scores, dim=-1) @ self.value(x)


torch.manual_seed(0)
x = torch.randn(6, 16, requires_grad=True)
attention = Attention(16)
loss = attention(x).pow(2).mean()
