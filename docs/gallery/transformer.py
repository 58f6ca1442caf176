"""A language model of forty-eight transformer layers, with about three thousand nodes.

The layers have the same structure, so the picture shows them once, with a count.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Transformer(nn.Module):
    def __init__(self, layers, words=50, width=32):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.position = nn.Parameter(torch.randn(8, width))
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        return self.head(self.encoder(self.embedding(tokens) + self.position))


torch.manual_seed(0)
tokens = torch.randint(0, 50, (2, 9))
model = Transformer(layers=48)
scores = model(tokens[:, :-1])
loss = F.cross_entropy(scores.reshape(-1, 50), tokens[:, 1:].reshape(-1))
