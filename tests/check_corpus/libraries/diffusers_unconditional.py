"""Train a small U-Net to predict the noise of images, with an average of its weights."""

import torch
from diffusers import DDPMScheduler, UNet2DModel
from diffusers.training_utils import EMAModel

torch.manual_seed(0)
model = UNet2DModel(
    sample_size=8,
    in_channels=1,
    out_channels=1,
    layers_per_block=1,
    block_out_channels=(16, 32),
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    norm_num_groups=8,
)
average = EMAModel(model.parameters(), decay=0.99)
schedule = DDPMScheduler(100)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
history = []
for step in range(25):
    clean = torch.randn(16, 1, 1, 1).expand(-1, -1, 8, 8)
    noise = torch.randn(16, 1, 8, 8)
    times = torch.randint(0, 100, (16,))
    predicted = model(schedule.add_noise(clean, noise, times), times).sample
    loss = torch.nn.functional.mse_loss(predicted, noise)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    average.step(model.parameters())
    history.append(loss.item())
assert history[-1] < 0.7 * history[0]
