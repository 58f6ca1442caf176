import torch
from job import job, tell
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.checkpoint import checkpoint


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        return self.down(self.up(x).relu())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts, self.last = nn.ModuleList([Part(), Part()]), nn.Linear(8, 2)

    def forward(self, x):
        for part in self.parts:
            x = x + checkpoint(part, x, use_reentrant=False)
        return self.last(x)


with job() as rank:
    net, precision = Net(), MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    for part in net.parts:
        fully_shard(part, mp_policy=precision)
    fully_shard(net)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(2):
        optimizer.zero_grad()
        net(torch.rand(3, 8) + rank).float().pow(2).mean().backward()
        optimizer.step()
    tell(net.parameters())
