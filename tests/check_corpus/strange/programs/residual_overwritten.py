import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


def residual(t):
    t = t.requires_grad_(True)
    u = net(t)
    (du,) = torch.autograd.grad(u.sum(), t, create_graph=True)
    return du + u


for step in range(60):
    t = torch.rand(64, 1)
    loss = residual(t).square().mean()
    loss = (net(torch.zeros(1, 1)) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
