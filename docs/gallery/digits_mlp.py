"""A classifier of handwritten digits: 64 pixels, one hidden layer of 48 units, 10 classes.

Each parameter is a row in the box that uses it. Lines are labelled with shapes.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(64, 48)
        self.output = nn.Linear(48, 10)

    def forward(self, pixels):
        return self.output(F.relu(self.hidden(pixels)))


torch.manual_seed(0)
pixels, labels = torch.rand(32, 64), torch.randint(0, 10, (32,))
model = Classifier()
loss = F.cross_entropy(model(pixels), labels)
