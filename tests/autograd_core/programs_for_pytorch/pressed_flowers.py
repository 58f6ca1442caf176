"""Pictures of flowers are pressed into three numbers each, and unfolded again."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Bernoulli, Independent, Normal, kl_divergence


class Herbarium(nn.Module):
    def __init__(self):
        super().__init__()
        self.press = nn.Sequential(
            nn.Conv2d(1, 5, 4, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(45, 6)
        )
        self.unfold = nn.Sequential(
            nn.Linear(3, 45),
            nn.ReLU(),
            nn.Unflatten(1, (5, 3, 3)),
            nn.ConvTranspose2d(5, 1, 4, 2, 1),
        )

    def pressed(self, flowers):
        middle, width = self.press(flowers).chunk(2, 1)
        return Independent(Normal(middle, F.softplus(width) + 0.001), 1)

    def unfolded(self, page):
        return Independent(Bernoulli(logits=self.unfold(page)), 3)


herbarium = Herbarium()
adamw = torch.optim.AdamW(herbarium.parameters(), 0.02)
flowers = (torch.rand(4, 1, 6, 6) > 0.6).float()
empty = Independent(Normal(torch.zeros(3), torch.ones(3)), 1)
for weight in (0.25, 1.0):
    for _ in range(2):
        page = herbarium.pressed(flowers)
        seen = herbarium.unfolded(page.rsample())
        lost = -seen.log_prob(flowers).mean()
        kept = kl_divergence(page, empty).mean()
        adamw.zero_grad()
        (lost + weight * kept).backward()
        length = nn.utils.clip_grad_norm_(herbarium.parameters(), 5.0)
        adamw.step()
        print(weight, lost.item(), kept.item(), length)
print(page, seen)
print(page.mean.shape, seen.mean.shape, page.entropy().shape)
print(seen.sample().shape, page.entropy().mean())
