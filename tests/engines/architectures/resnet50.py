"""ResNet-50: bottleneck blocks, 3, 4, 6 and 3 of them."""

import torch
from torch import nn
from torch.nn import functional as F


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, inner: int, stride: int) -> None:
        super().__init__()
        outputs = 4 * inner
        self.conv1 = nn.Conv2d(inputs, inner, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(inner)
        self.conv2 = nn.Conv2d(inner, inner, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(inner)
        self.conv3 = nn.Conv2d(inner, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += identity
        return self.relu(out)


def stage(inputs: int, inner: int, blocks: int, stride: int) -> nn.Sequential:
    rest = [Bottleneck(4 * inner, inner, 1) for _ in range(blocks - 1)]
    return nn.Sequential(Bottleneck(inputs, inner, stride), *rest)


class ResNet(nn.Module):
    def __init__(self, width: int = 4, classes: int = 10) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = stage(width, width, 3, 1)
        self.layer2 = stage(4 * width, 2 * width, 4, 2)
        self.layer3 = stage(8 * width, 4 * width, 6, 2)
        self.layer4 = stage(16 * width, 8 * width, 3, 2)
        self.fc = nn.Linear(32 * width, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(images))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


torch.manual_seed(0)
model = ResNet()
images, labels = torch.randn(2, 3, 64, 64), torch.tensor([3, 7])
loss = F.cross_entropy(model(images), labels)
loss.backward()
