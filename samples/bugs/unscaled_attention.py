"""Attention without its scale: nearly every row of the softmax is exactly 0 and 1.

Products of 512 numbers are large. The remedy is to divide them by the root of 512, as
``scaled_dot_product_attention`` does.
"""

import torch
from torch import nn

torch.manual_seed(0)
width = 512
words = torch.randn(10, width) * 3.0
query, key = nn.Linear(width, width), nn.Linear(width, width)
weights = torch.softmax(query(words) @ key(words).t(), dim=1)
loss = (weights @ words).pow(2).mean()
loss.backward()
print(f"gradient of query.weight: {query.weight.grad.abs().max().item():.1e}")
