"""A ResNet-18 with few channels."""

import torch
from torch import nn

torch.manual_seed(0)


class Basic(nn.Module):
    def __init__(s, i, o, stride=1):
        super().__init__()
        s.conv1 = nn.Conv2d(i, o, 3, stride, 1, bias=False)
        s.bn1 = nn.BatchNorm2d(o)
        s.relu = nn.ReLU()
        s.conv2 = nn.Conv2d(o, o, 3, 1, 1, bias=False)
        s.bn2 = nn.BatchNorm2d(o)
        s.down = (
            nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))
            if stride > 1 or i != o
            else None
        )

    def forward(s, x):
        y = s.relu(s.bn1(s.conv1(x)))
        y = s.bn2(s.conv2(y))
        return s.relu(y + (x if s.down is None else s.down(x)))


class Net(nn.Module):
    def __init__(s):
        super().__init__()
        s.conv1 = nn.Conv2d(3, 8, 7, 2, 3, bias=False)
        s.bn1 = nn.BatchNorm2d(8)
        s.relu = nn.ReLU()
        s.pool = nn.MaxPool2d(3, 2, 1)
        s.layer1 = nn.Sequential(Basic(8, 8), Basic(8, 8))
        s.layer2 = nn.Sequential(Basic(8, 16, 2), Basic(16, 16))
        s.layer3 = nn.Sequential(Basic(16, 32, 2), Basic(32, 32))
        s.layer4 = nn.Sequential(Basic(32, 64, 2), Basic(64, 64))
        s.fc = nn.Linear(64, 10)

    def forward(s, x):
        x = s.pool(s.relu(s.bn1(s.conv1(x))))
        x = s.layer4(s.layer3(s.layer2(s.layer1(x))))
        return s.fc(x.mean((2, 3)))


model = Net()
nn.functional.cross_entropy(model(torch.randn(2, 3, 64, 64)), torch.tensor([1, 2])).backward()
