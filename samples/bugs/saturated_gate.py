"""Pixels from 0 to 255 in front of a sigmoid: it is exactly 0 or 1, and passes nearly nothing.

The remedy is to divide the pixels by 255.
"""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
pixels = torch.randint(0, 256, (16, 64)).float()
labels = torch.arange(16) % 2
model = nn.Sequential(nn.Linear(64, 8), nn.Sigmoid(), nn.Linear(8, 2))
nn.init.normal_(model[0].weight)
loss = nn.functional.cross_entropy(model(pixels), labels)
loss.backward()
print(f"gradient of the first layer: {model[0].weight.grad.abs().max().item():.1e}")
