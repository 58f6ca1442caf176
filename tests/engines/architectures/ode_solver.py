"""A neural differential equation: Runge-Kutta steps in a plain function, around a small network."""

import torch
from torch import nn


class Field(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        return self.net(y**3)


def step(field: Field, y: torch.Tensor, h: float) -> torch.Tensor:
    k1 = field(y)
    k2 = field(y + h / 2 * k1)
    k3 = field(y + h / 2 * k2)
    k4 = field(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solve(field: Field, y: torch.Tensor, steps: int, h: float) -> torch.Tensor:
    seen = [y]
    for _ in range(steps):
        y = step(field, y, h)
        seen.append(y)
    return torch.stack(seen)


torch.manual_seed(0)
model = Field()
start, observed = torch.tensor([[2.0, 0.0]]), torch.randn(13, 1, 2)
loss = (solve(model, start, 12, 0.1) - observed).abs().mean()
loss.backward()
