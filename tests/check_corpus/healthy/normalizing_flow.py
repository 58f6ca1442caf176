import math

import torch
import torch.nn as nn


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, x):
        kept, moved = (x[:, 1:], x[:, :1]) if self.flip else (x[:, :1], x[:, 1:])
        scale, shift = self.net(kept).chunk(2, dim=1)
        scale = torch.tanh(scale)
        moved = moved * scale.exp() + shift
        x = torch.cat([moved, kept] if self.flip else [kept, moved], dim=1)
        return x, scale.sum(dim=1)


torch.manual_seed(72)
flow = nn.ModuleList(Coupling(bool(number % 2)) for number in range(4))
optimizer = torch.optim.Adam(flow.parameters(), lr=0.01)
history = []
for step in range(50):
    first = torch.randn(128)
    x = torch.stack([first, 0.5 * first**2 + 0.2 * torch.randn(128)], dim=1)
    log_det = torch.zeros(128)
    for layer in flow:
        x, part = layer(x)
        log_det = log_det + part
    log_density = -0.5 * (x.pow(2) + math.log(2 * math.pi)).sum(dim=1)
    loss = -(log_density + log_det).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
