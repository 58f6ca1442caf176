import math

import torch
from torch import nn

STEPS = 50


class Denoiser(nn.Module):
    def __init__(self, features=8, width=64):
        super().__init__()
        self.width = width
        self.time = nn.Linear(width, width)
        self.first, self.last = nn.Linear(features, width), nn.Linear(width, features)

    def embed(self, t):
        rates = torch.exp(-math.log(1000.0) * torch.arange(0, self.width, 2) / self.width)
        angles = t[:, None] * rates
        return torch.cat([angles.sin(), angles.cos()], dim=1)

    def forward(self, x, t):
        h = self.first(x)
        time = self.time(self.embed(t))
        return self.last(torch.relu(h))


torch.manual_seed(0)
beta = torch.linspace(1e-4, 0.1, STEPS)
kept = torch.cumprod(1 - beta, 0)
model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
data = torch.randn(256, 8) * 0.3 + 1
for step in range(40):
    x = data[torch.randint(256, (32,))]
    t = torch.randint(STEPS, (32,))
    noise = torch.randn_like(x)
    noisy = kept[t, None].sqrt() * x + (1 - kept[t, None]).sqrt() * noise
    loss = nn.functional.mse_loss(model(noisy, t), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
