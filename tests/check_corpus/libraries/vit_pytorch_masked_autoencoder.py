"""A masked autoencoder: a vision transformer rebuilds the patches that it does not see."""

import torch
from vit_pytorch import MAE, ViT

torch.manual_seed(0)
encoder = ViT(
    image_size=16, patch_size=4, channels=1, num_classes=2, dim=32, depth=2, heads=2, mlp_dim=64
)
model = MAE(encoder=encoder, masking_ratio=0.5, decoder_dim=32, decoder_depth=1)
model.encoder.mlp_head = torch.nn.Identity()  # the classes come later
learned = [p for name, p in model.named_parameters() if "cls_token" not in name]
optimizer = torch.optim.AdamW(learned, lr=3e-3)
history = []
for step in range(30):
    images = torch.randn(16, 1, 1, 1).expand(-1, -1, 16, 16) + 0.1 * torch.randn(16, 1, 16, 16)
    loss = model(images)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.6 * history[0]
