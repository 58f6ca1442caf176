import torch
from job import job, tell
from torch import nn

with job() as rank:
    net = nn.parallel.DistributedDataParallel(
        nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
    )
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = net(torch.rand(3, 4) + rank).pow(2).mean()
        loss.backward()
        torch.distributed.all_reduce(loss.detach())  # the mean, to be printed
        optimizer.step()
    tell(net.parameters())
