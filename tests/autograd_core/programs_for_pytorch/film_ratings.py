"""Ratings of films, explained in four ways by a few numbers per film and viewer."""

import torch
import torch.nn as nn


class Taste(nn.Module):
    def __init__(self, viewers, films, moods):
        super().__init__()
        self.likes, self.has = nn.Embedding(viewers, moods), nn.Embedding(films, moods)
        self.mild, self.good = nn.Embedding(viewers, 1), nn.Embedding(films, 1)

    def forward(self, viewer, film):
        fit = (self.likes(viewer) * self.has(film)).sum(1, keepdim=True)
        return (fit + self.mild(viewer) + self.good(film)).squeeze()


taste = Taste(6, 4, 3)
viewer, film = torch.randint(0, 6, (14,)), torch.randint(0, 4, (14,))
stars = 1 + 4 * torch.rand(14)
adagrad = torch.optim.Adagrad(taste.parameters(), lr=0.2)
for evening in range(4):
    loss = nn.functional.mse_loss(taste(viewer, film), stars)
    adagrad.zero_grad()
    loss.backward()
    adagrad.step()
    print(evening, loss)

seen = torch.rand(5, 6) + 0.1
scenes, viewers = torch.rand(5, 3), torch.rand(3, 6)
before = torch.dist(seen, scenes @ viewers)
for _ in range(15):  # no number ever becomes negative
    viewers *= scenes.T @ seen / (scenes.T @ (scenes @ viewers))
    scenes *= seen @ viewers.T / ((scenes @ viewers) @ viewers.T)
print(before, torch.dist(seen, scenes @ viewers) < before, scenes.min() > 0)

tunes = torch.randn(5, 9)
tunes /= tunes.norm(dim=0)
heard = tunes[:, 4] - 0.5 * tunes[:, 7]
played = torch.zeros(9, requires_grad=True)
steepest = torch.linalg.matrix_norm(tunes, 2) ** 2
for _ in range(25):  # few tunes at once explain what is heard
    missed = 0.5 * (heard - tunes @ played).pow(2).sum()
    (slope,) = torch.autograd.grad(missed, played)
    with torch.no_grad():
        played.copy_(nn.functional.softshrink(played - slope / steepest, 0.08))
print(played)

rows, weights, columns = torch.linalg.svd(seen, full_matrices=False)
print(torch.allclose(rows @ torch.diag(weights) @ columns, seen, atol=1e-05))
print((rows[:, :3] * weights[:3]) @ columns[:3])
print(weights.cumsum(0) / weights.sum())
