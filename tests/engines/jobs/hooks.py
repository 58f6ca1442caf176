import torch
import torch.distributed as dist
from job import job, tell
from torch import nn

with job() as rank:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))

    def mean(gradient):
        gradient = gradient.clone()
        dist.all_reduce(gradient)
        return gradient / 2

    for p in net.parameters():
        p.register_hook(mean)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.rand(3, 4) + rank).pow(2).mean().backward()
        optimizer.step()
    tell(net.parameters())
