"""ViT: an image as patches, through PyTorch's own encoder of transformer layers."""

import torch
from torch import nn
from torch.nn import functional as F


class ViT(nn.Module):
    def __init__(self, width: int = 16, layers: int = 4, classes: int = 10) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.cls = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(torch.randn(1, 17, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, 4, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.size(0), -1, -1), x], 1) + self.position
        return self.head(self.encoder(x)[:, 0])


torch.manual_seed(0)
model = ViT()
images, labels = torch.randn(2, 3, 32, 32), torch.tensor([3, 7])
loss = F.cross_entropy(model(images), labels)
loss.backward()
