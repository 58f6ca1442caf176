"""Mosaics are read stone by stone: every stone looks at all others, and a judge at the sum."""

import torch
import torch.nn as nn


class Stones(nn.Module):
    """Cuts a picture into square stones and gives each of them a code."""

    def __init__(self, side, size):
        super().__init__()
        self.cut = nn.Conv2d(2, size, side, side)

    def forward(self, pictures):
        return self.cut(pictures).flatten(2).transpose(1, 2)


class Look(nn.Module):
    def __init__(self, size, eyes):
        super().__init__()
        self.clear, self.calm = nn.LayerNorm(size), nn.LayerNorm(size)
        self.eyes = nn.MultiheadAttention(size, eyes, batch_first=True)
        self.think = nn.Sequential(
            nn.Linear(size, 3 * size), nn.GELU(), nn.Dropout(0.0), nn.Linear(3 * size, size)
        )

    def forward(self, stones):
        stones = stones + self.think(self.calm(stones))
        seen = self.clear(stones)
        return stones + self.eyes(seen, seen, seen, need_weights=False)[0]


class Reader(nn.Module):
    def __init__(self, size=6, looks=2):
        super().__init__()
        self.stones = Stones(3, size)
        self.judge = nn.Parameter(torch.zeros(1, 1, size))
        self.place = nn.Parameter(torch.zeros(1, 7, size))
        self.looks = nn.ModuleList(Look(size, 3) for _ in range(looks))
        self.verdict = nn.Linear(size, 4)

    def forward(self, pictures):
        stones = self.stones(pictures)
        judges = self.judge.expand(stones.shape[0], -1, -1)
        stones = torch.cat((stones, judges), 1) + self.place
        for look in self.looks:
            stones = look(stones)
        return self.verdict(stones[:, -1])


reader = Reader()
pictures, saints = torch.randn(3, 2, 6, 9), torch.tensor([3, 0, 2])
groups = [
    {"params": [w for _, w in reader.named_parameters() if w.ndim > 1], "weight_decay": 0.1},
    {"params": [w for _, w in reader.named_parameters() if w.ndim <= 1], "weight_decay": 0.0},
]
adamw = torch.optim.AdamW(groups, lr=0.02)
schedule = torch.optim.lr_scheduler
warm = schedule.LinearLR(adamw, 0.2, total_iters=3)
plan = schedule.SequentialLR(adamw, [warm, schedule.CosineAnnealingLR(adamw, 5)], milestones=[3])
for visit in range(5):
    loss = nn.functional.cross_entropy(reader(pictures), saints)
    adamw.zero_grad()
    loss.backward()
    adamw.step()
    plan.step()
    print(visit, f"{loss.item():.4f}", plan.get_last_lr())
print(reader)
print(reader.judge.grad)
