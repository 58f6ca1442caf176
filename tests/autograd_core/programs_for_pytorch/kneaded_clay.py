"""Kneading that can be undone: half of the clay tells how to stretch the other half."""

import torch
import torch.distributions as D
import torch.nn as nn


class Knead(nn.Module):
    def __init__(self, size, turned):
        super().__init__()
        self.hands = nn.Sequential(nn.Linear(size // 2, 7), nn.ReLU(), nn.Linear(7, size))
        self.turned = turned

    def halves(self, clay):
        resting, moving = clay.chunk(2, dim=-1)
        return (moving, resting) if self.turned else (resting, moving)

    def joined(self, resting, moving):
        return torch.cat([moving, resting] if self.turned else [resting, moving], -1)

    def grip(self, resting):
        stretch, shift = self.hands(resting).chunk(2, -1)
        return torch.tanh(stretch) / 2, shift

    def forward(self, clay):
        resting, moving = self.halves(clay)
        stretch, shift = self.grip(resting)
        return self.joined(resting, moving * stretch.exp() + shift), stretch.sum(-1)

    def undone(self, clay):
        resting, moving = self.halves(clay)
        stretch, shift = self.grip(resting)
        return self.joined(resting, (moving - shift) * torch.exp(-stretch))


work = nn.ModuleList([Knead(6, turn % 2 == 1) for turn in range(4)])
ball = D.Independent(D.Normal(torch.zeros(6), 1.5 * torch.ones(6)), 1)
lumps = torch.randn(10, 6).abs() - 1


def kneaded(clay):
    stretched = 0
    for knead in work:
        clay, more = knead(clay)
        stretched = stretched + more
    return clay, stretched


adam = torch.optim.Adam(work.parameters(), 0.005)
for minute in range(4):
    clay, stretched = kneaded(lumps)
    loss = -(ball.log_prob(clay) + stretched).mean()
    adam.zero_grad()
    loss.backward()
    adam.step()
    print(minute, loss)
with torch.no_grad():
    clay, _ = kneaded(lumps)
    for knead in reversed(work):
        clay = knead.undone(clay)
print(torch.allclose(clay, lumps, atol=0.0001))
print(ball.sample((3,)).shape, ball)
