from contextlib import nullcontext

import torch
from job import job, tell
from torch import nn

with job() as rank:
    net = nn.parallel.DistributedDataParallel(
        nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4)), gradient_as_bucket_view=True
    )
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(4):
        with net.no_sync() if step % 2 == 0 else nullcontext():
            net(torch.rand(3, 4) + rank).pow(2).mean().backward()
        if step % 2:
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
    tell(net.parameters())
