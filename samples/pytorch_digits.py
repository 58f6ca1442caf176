"""Learns to read handwritten digits with PyTorch: a small convolutional net with one skip."""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

DATA = Path(__file__).parent / "data" / "digits.npz"


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3, padding=1)
        self.block = nn.Conv2d(8, 8, 3, padding=1, bias=False)  # the norm has one
        self.norm = nn.BatchNorm2d(8)
        self.output = nn.Linear(8 * 4 * 4, 10)

    def forward(self, pixels):
        x = F.relu(self.stem(pixels))
        x = F.relu(self.norm(self.block(x)) + x)
        return self.output(F.max_pool2d(x, 2).flatten(1))


def main():
    torch.manual_seed(0)
    with np.load(DATA) as digits:
        pixels = torch.from_numpy(digits["images"].reshape(-1, 1, 8, 8) / np.float32(16))
        labels = torch.from_numpy(digits["labels"].astype(np.int64))
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(1, 4):
        for batch in torch.randperm(len(labels)).split(64):
            loss = F.cross_entropy(model(pixels[batch]), labels[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = (model(pixels).argmax(1) == labels).float().mean()
        model.train()
        print(f"epoch {epoch}: {right:.1%} of the digits it has seen are read right")


if __name__ == "__main__":
    main()
