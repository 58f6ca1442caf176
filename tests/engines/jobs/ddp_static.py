import torch
from job import job, tell
from torch import nn

with job() as rank:
    net = nn.parallel.DistributedDataParallel(
        nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4)), static_graph=True
    )
    optimizer = torch.optim.Adam(net.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.rand(3, 4) + rank).pow(2).mean().backward()
        optimizer.step()
    tell(net.parameters())
