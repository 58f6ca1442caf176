import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(128, 4)
y = x.prod(1, keepdim=True)


def set_rate(optimizer, step, warmup=20):
    for group in optimizer.param_groups:
        rate = group["lr"] * min(1.0, (step + 1) / warmup)


for step in range(60):
    set_rate(optimizer, step)
    loss = (net(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
