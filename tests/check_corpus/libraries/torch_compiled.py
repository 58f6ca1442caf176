"""A compiled model."""

import torch
import torch.nn as nn

torch.manual_seed(66)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
fast = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
x = torch.randn(32, 4)
y = x.sum(dim=1, keepdim=True).sin()
history = []
for step in range(20):
    loss = (fast(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.7 * history[0]
