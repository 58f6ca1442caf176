"""The denoising network of a diffusion model: a U-Net that is told the time, with attention."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class ResidualBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, time: int) -> None:
        super().__init__()
        self.norm1 = nn.GroupNorm(4, inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(time, outputs)
        self.norm2 = nn.GroupNorm(4, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: torch.Tensor, emb: torch.Tensor) -> torch.Tensor:
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.time(F.silu(emb))[:, :, None, None]
        return self.conv2(F.silu(self.norm2(h))) + self.skip(x)


class SelfAttention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(4, width)
        self.qkv = nn.Conv2d(width, 3 * width, 1)
        self.proj = nn.Conv2d(width, width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, width, height, length = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(batch, 3, width, -1).unbind(1)
        weights = F.softmax(q.transpose(1, 2) @ k / math.sqrt(width), -1)
        out = (v @ weights.transpose(1, 2)).reshape(batch, width, height, length)
        return x + self.proj(out)


class Denoiser(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.width = width
        self.time = nn.Sequential(
            nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, 4 * width)
        )
        self.inc = nn.Conv2d(1, width, 3, padding=1)
        self.down1 = ResidualBlock(width, width, 4 * width)
        self.down2 = ResidualBlock(width, 2 * width, 4 * width)
        self.middle = ResidualBlock(2 * width, 2 * width, 4 * width)
        self.attention = SelfAttention(2 * width)
        self.up2 = ResidualBlock(4 * width, width, 4 * width)
        self.up1 = ResidualBlock(2 * width, width, 4 * width)
        self.outc = nn.Conv2d(width, 1, 3, padding=1)

    def embedding(self, t: torch.Tensor) -> torch.Tensor:
        half = self.width // 2
        rates = torch.exp(-math.log(10_000) * torch.arange(half) / half)
        angles = t[:, None] * rates[None]
        return torch.cat([torch.cos(angles), torch.sin(angles)], -1)

    def forward(self, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        emb = self.time(self.embedding(t))
        d1 = self.down1(self.inc(x), emb)
        d2 = self.down2(F.avg_pool2d(d1, 2), emb)
        h = self.attention(self.middle(F.avg_pool2d(d2, 2), emb))
        h = self.up2(torch.cat([F.interpolate(h, scale_factor=2.0), d2], 1), emb)
        h = self.up1(torch.cat([F.interpolate(h, scale_factor=2.0), d1], 1), emb)
        return self.outc(h)


torch.manual_seed(0)
model = Denoiser()
clean, t = torch.randn(2, 1, 16, 16), torch.tensor([100.0, 700.0])
alpha = torch.cos(t / 1000 * math.pi / 2)[:, None, None, None] ** 2
noise = torch.randn_like(clean)
noisy = alpha.sqrt() * clean + (1 - alpha).sqrt() * noise
loss = F.mse_loss(model(noisy, t), noise)
loss.backward()
