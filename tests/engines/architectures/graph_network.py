"""A graph network: messages along edges, summed where they arrive."""

import torch
from torch import nn
from torch.nn import functional as F


class Convolution(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.message = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        messages = self.message(x)[source]
        received = torch.zeros(x.size(0), messages.size(1)).index_add(0, target, messages)
        return self.own(x) + received


class GraphNetwork(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = Convolution(3, 8)
        self.conv2 = Convolution(8, 8)
        self.readout = nn.Linear(8, 2)

    def forward(self, x: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        h = F.relu(self.conv1(x, source, target))
        h = F.relu(self.conv2(h, source, target))
        return self.readout(h)


torch.manual_seed(0)
model = GraphNetwork()
x = torch.randn(6, 3)
source, target = torch.tensor([0, 1, 2, 3, 4, 5, 0]), torch.tensor([1, 2, 3, 4, 5, 0, 3])
known = torch.tensor([True, True, False, False, True, False])
labels = torch.tensor([0, 1, 0, 1, 1, 0])
loss = F.cross_entropy(model(x, source, target)[known], labels[known])
loss.backward()
