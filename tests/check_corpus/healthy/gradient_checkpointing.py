import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(9)
stem = nn.Linear(6, 16)
blocks = nn.ModuleList(
    nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
    for _ in range(2)
)
head = nn.Linear(16, 1)
optimizer = torch.optim.AdamW(nn.ModuleList([stem, blocks, head]).parameters(), lr=3e-3)
x = torch.randn(64, 6)
y = (x[:, :1] * x[:, 1:2]).tanh()
history = []
for step in range(20):
    h = stem(x)
    for block in blocks:
        h = h + checkpoint(block, h, use_reentrant=False)
    loss = (head(h) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
