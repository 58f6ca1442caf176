import math

import torch
import torch.nn as nn


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU())
        self.out = nn.Linear(64, 2)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, t):
        angle = t.unsqueeze(1) * math.pi
        waves = [angle.sin(), angle.cos(), (2 * angle).sin(), (2 * angle).cos()]
        return self.out(self.net(torch.cat([x, *waves], dim=1)))


torch.manual_seed(63)
model = Denoiser()
average = [p.detach().clone() for p in model.parameters()]
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
history = []
for step in range(60):
    clean = torch.randint(0, 2, (128, 2)).float() * 2 - 1
    t = torch.rand(128)
    keep = (0.5 * math.pi * t).cos().unsqueeze(1)
    noise = torch.randn(128, 2)
    noisy = keep * clean + (1 - keep**2).sqrt() * noise
    loss = (model(noisy, t) - noise).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for mean, p in zip(average, model.parameters()):
            mean.lerp_(p, 0.05)
    history.append(loss.item())
