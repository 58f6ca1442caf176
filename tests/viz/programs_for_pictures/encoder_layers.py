"""Layers of an encoder, whose attention begins with a select."""

import torch
from torch import nn

torch.manual_seed(0)

layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
nn.TransformerEncoder(layer, 3)(torch.randn(2, 6, 16)).mean().backward()
