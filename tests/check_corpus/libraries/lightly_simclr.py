"""Self-supervised learning with lightly: SimCLR's loss of two views."""

import torch
from lightly.loss import NTXentLoss
from lightly.models.modules import SimCLRProjectionHead
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(
    nn.Conv2d(1, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten()
)
head = SimCLRProjectionHead(128, 32, 16)
criterion = NTXentLoss(temperature=0.5)
optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.3, momentum=0.9)
pictures = torch.randn(64, 1, 4, 4)
history = []
for step in range(30):
    chosen = pictures[torch.randperm(64)[:32]]
    large = nn.functional.interpolate(chosen, 16)
    first, second = (head(backbone(large + 0.3 * torch.randn_like(large))) for _ in range(2))
    loss = criterion(first, second)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.95 * history[0]
