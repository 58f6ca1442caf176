"""A convolutional network: two convolutions with pooling, then a linear layer.

Pooling saves the index of each maximum, and sends the gradient only there.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.strokes = nn.Conv2d(1, 8, 3, padding=1)
        self.shapes = nn.Conv2d(8, 16, 3, padding=1)
        self.letter = nn.Linear(16 * 2 * 2, 26)

    def forward(self, pages):
        strokes = F.max_pool2d(F.relu(self.strokes(pages)), 2)
        shapes = F.max_pool2d(F.relu(self.shapes(strokes)), 2)
        return self.letter(shapes.flatten(1))


torch.manual_seed(0)
pages, letters = torch.rand(4, 1, 8, 8), torch.randint(0, 26, (4,))
reader = Reader()
loss = F.cross_entropy(reader(pages), letters)
