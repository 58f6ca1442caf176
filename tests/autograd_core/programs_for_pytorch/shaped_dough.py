"""Dough is pressed, stretched and turned; how much its volume changes is kept account of."""

import math

import torch
import torch.nn as nn


class Press(nn.Module):
    """Presses along one direction, most where the dough is near a plane."""

    def __init__(self, size):
        super().__init__()
        self.along = nn.Parameter(torch.randn(1, size) * 0.2)
        self.across = nn.Parameter(torch.randn(1, size) * 0.2)
        self.plane = nn.Parameter(torch.zeros(1))

    def forward(self, dough):
        meet = (self.across * self.along).sum()
        limit = nn.functional.softplus(meet) - 1 - meet  # never so far that it turns inside out
        along = self.along + limit * self.across / self.across.pow(2).sum()
        depth = torch.tanh(torch.mm(dough, self.across.t()) + self.plane)
        steep = (1 - depth**2) * self.across
        grown = torch.log(torch.abs(1 + torch.mm(steep, along.t())) + 1e-7)
        return dough + along * depth, grown.squeeze(-1)


class Stretch(nn.Module):
    def __init__(self, size, second):
        super().__init__()
        self.second = second
        self.hands = nn.Sequential(nn.Linear(size // 2, 10), nn.Tanh(), nn.Linear(10, size))

    def forward(self, dough):
        parts = list(dough.chunk(2, dim=1))
        factor, shift = self.hands(parts[self.second]).chunk(2, 1)
        factor = torch.tanh(factor)
        parts[1 - self.second] = parts[1 - self.second] * factor.exp() + shift
        return torch.cat(parts, dim=1), factor.sum(1)


class Turn(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.turn = nn.Parameter(torch.linalg.qr(torch.randn(size, size))[0])

    def forward(self, dough):
        return dough @ self.turn, torch.slogdet(self.turn)[1].expand(dough.shape[0])


work = nn.ModuleList([Stretch(6, 0), Turn(6), Stretch(6, 1), Press(6)])
adam = torch.optim.Adam(work.parameters(), lr=5e-3)
lumps = torch.rand(20, 6) * torch.tensor([2.0, 0.5, 1.0, 1.5, 1.0, 0.5]) - 0.5
for minute in range(4):
    dough, volume = lumps, torch.zeros(20)
    for step in work:
        dough, grown = step(dough)
        volume = volume + grown
    roundness = -0.5 * (dough**2).sum(1) - 3 * math.log(2 * math.pi)
    loss = -(roundness + volume).mean()
    adam.zero_grad()
    loss.backward()
    adam.step()
    print(minute, f"{loss.item():.5f}")

lump = torch.randn(1, 6)
slopes = torch.autograd.functional.jacobian(lambda v: work[0](v)[0], lump).squeeze()
print(torch.allclose(torch.logdet(slopes.T @ slopes) / 2, work[0](lump)[1], atol=1e-5))
sides = torch.randn(4, 4, requires_grad=True)
round_tin = sides.T @ sides + 2 * torch.eye(4)
torch.logdet(round_tin).backward()
inverse = torch.linalg.inv(round_tin).detach()
print(torch.allclose(sides.grad, 2 * sides.detach() @ inverse, atol=1e-4))
for made in (
    torch.linalg.cholesky(round_tin),
    torch.logdet(round_tin),
    torch.slogdet(round_tin).logabsdet,
):
    print(made.grad_fn.name(), made.abs().sum())
