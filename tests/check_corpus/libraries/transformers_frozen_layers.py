"""Classify images with a small vision transformer whose lower layers stay frozen."""

import torch
from transformers import ViTConfig, ViTForImageClassification

torch.manual_seed(0)
config = ViTConfig(
    image_size=16,
    patch_size=4,
    num_channels=1,
    hidden_size=32,
    num_hidden_layers=3,
    num_attention_heads=4,
    intermediate_size=64,
    num_labels=2,
)
model = ViTForImageClassification(config)
model.vit.embeddings.requires_grad_(False)
learned = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(learned, lr=2e-3)
history = []
for step in range(30):
    labels = torch.randint(2, (16,))
    images = 0.3 * torch.randn(16, 1, 16, 16)
    images[:, :, :8] += labels.view(-1, 1, 1, 1)
    loss = model(pixel_values=images, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.5 * history[0]
