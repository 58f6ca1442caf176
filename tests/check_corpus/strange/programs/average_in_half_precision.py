import copy

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
ema = copy.deepcopy(net).bfloat16()
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(60):
    x = torch.randn(32, 8)
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(ema.parameters(), net.parameters()):
            slow.mul_(0.9995).add_(fast.bfloat16(), alpha=0.0005)
