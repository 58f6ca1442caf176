"""An encoder with three heads, and a loss for each."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class MultiTask(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU()
        )
        self.classify, self.box = nn.Linear(32, 5), nn.Linear(32, 4)
        self.depth = nn.ConvTranspose2d(32, 1, 4, 4)

    def forward(self, images):
        features = self.encoder(images)
        pooled = features.mean((2, 3))
        return self.classify(pooled), self.depth(features), self.box(pooled)


model = MultiTask()
images, labels = torch.randn(4, 3, 32, 32), torch.randint(0, 5, (4,))
depths, boxes = torch.rand(4, 1, 32, 32), torch.rand(4, 4)
classes, depth, box = model(images)
loss_class = F.cross_entropy(classes, labels)
loss_depth = F.l1_loss(depth, depths)
loss_box = F.smooth_l1_loss(box, boxes)
loss = loss_class + 0.5 * loss_depth + loss_box
loss.backward()
