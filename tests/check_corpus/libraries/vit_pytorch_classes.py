"""A simple vision transformer of vit-pytorch: in which direction are the ramps?"""

import torch
from torch import nn
from vit_pytorch import SimpleViT

torch.manual_seed(0)
model = SimpleViT(
    image_size=16, patch_size=4, channels=1, num_classes=3, dim=32, depth=2, heads=2, mlp_dim=64
)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
history = []
for step in range(30):
    labels = torch.randint(3, (16,))
    images = 0.2 * torch.randn(16, 1, 16, 16)
    ramps = torch.arange(16.0) % 4
    images[labels == 1] += ramps
    images[labels == 2] += ramps.unsqueeze(1)
    loss = nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.6 * history[0]
