import torch
from job import job, tell
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as Sharded

with job() as rank:
    parts = [Sharded(nn.Linear(8, 8), device_id=torch.device("cpu")) for _ in range(2)]
    net = Sharded(nn.Sequential(parts[0], nn.ReLU(), parts[1]), device_id=torch.device("cpu"))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(2):
        optimizer.zero_grad()
        net(torch.rand(3, 8) + rank).pow(2).mean().backward()
        net.clip_grad_norm_(1.0)
        optimizer.step()
    tell(net.parameters())
