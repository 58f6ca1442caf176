"""Train a new head on the frozen features of a vision transformer."""

import timm
import torch
from torch import nn

torch.manual_seed(0)
backbone = timm.create_model(
    "vit_tiny_patch16_224", img_size=32, patch_size=8, embed_dim=48, depth=2, num_heads=3,
    num_classes=0,
)  # fmt: skip
backbone.requires_grad_(False).eval()
head = nn.Linear(backbone.num_features, 3)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9, nesterov=True)
labels = torch.randint(3, (64,))
images = 0.3 * torch.randn(64, 3, 32, 32)
images[torch.arange(64), labels] += 2
history = []
for step in range(30):
    chosen = torch.randperm(64)[:16]
    with torch.no_grad():
        features = backbone(images[chosen])
    loss = nn.functional.cross_entropy(head(features), labels[chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.7 * history[0]
