"""U-Net: an encoder, a decoder, and what each level of one hands to the other."""

from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional as F


def double_convolution(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(),
        nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(),
    )  # fmt: skip


class UNet(nn.Module):
    def __init__(self, width: int = 4, levels: int = 3, classes: int = 2) -> None:
        super().__init__()
        widths = [width << level for level in range(levels + 1)]
        self.inc = double_convolution(1, width)
        pairs = list(pairwise(widths))
        self.down = nn.ModuleList(double_convolution(a, b) for a, b in pairs)
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in reversed(pairs))
        self.merge = nn.ModuleList(double_convolution(2 * a, a) for a in reversed(widths[:-1]))
        self.outc = nn.Conv2d(width, classes, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        skips = [self.inc(image)]
        for down in self.down:
            skips.append(down(F.max_pool2d(skips[-1], 2)))
        x = skips.pop()
        for up, merge in zip(self.up, self.merge, strict=True):
            x = merge(torch.cat([skips.pop(), up(x)], 1))
        return self.outc(x)


torch.manual_seed(0)
model = UNet()
image, mask = torch.randn(1, 1, 32, 32), torch.randint(0, 2, (1, 32, 32))
loss = F.cross_entropy(model(image), mask)
loss.backward()
