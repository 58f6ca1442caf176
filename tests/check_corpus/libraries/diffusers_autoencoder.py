"""Train a small autoencoder: reconstruction and a divergence of its Gaussian."""

import torch
from diffusers import AutoencoderKL

torch.manual_seed(0)
model = AutoencoderKL(
    in_channels=1,
    out_channels=1,
    down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
    up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"),
    block_out_channels=(8, 16),
    latent_channels=2,
    norm_num_groups=4,
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
history = []
for step in range(20):
    images = torch.randn(8, 1, 1, 1).expand(-1, -1, 8, 8) + 0.1 * torch.randn(8, 1, 8, 8)
    posterior = model.encode(images).latent_dist
    rebuilt = model.decode(posterior.sample()).sample
    loss = (rebuilt - images).pow(2).mean() + 1e-4 * posterior.kl().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.8 * history[0]
