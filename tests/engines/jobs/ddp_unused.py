import torch
from job import job, tell
from torch import nn


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.branches = nn.ModuleList(nn.Linear(8, 1) for _ in range(3))

    def forward(self, x, which):
        return self.branches[which](self.first(x).relu())


with job() as rank:
    net = nn.parallel.DistributedDataParallel(Branches(), find_unused_parameters=True)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(3):
        optimizer.zero_grad()
        net(torch.rand(3, 4), (step + rank) % 2).pow(2).mean().backward()
        optimizer.step()
    tell(net.parameters())
