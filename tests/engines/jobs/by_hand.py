import torch
import torch.distributed as dist
from job import job, tell
from torch import nn

with job() as rank:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.rand(3, 4) + rank).pow(2).mean().backward()
        works = [dist.all_reduce(p.grad, async_op=True) for p in net.parameters()]
        for work, p in zip(works, net.parameters(), strict=True):
            work.wait()
            p.grad /= 2
        optimizer.step()
    tell(net.parameters())
