"""Data-parallel training in a process group of one, with accumulation under no_sync()."""

import tempfile

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

torch.manual_seed(67)
with tempfile.TemporaryDirectory() as folder:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=0, world_size=1)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    x = torch.randn(64, 4)
    y = x[:, :1] * x[:, 1:2]
    history = []
    for step in range(40):
        optimizer.zero_grad()
        with model.no_sync():
            nn.functional.mse_loss(model(x[:32]), y[:32]).div(2).backward()
        loss = nn.functional.mse_loss(model(x[32:]), y[32:])
        (loss / 2).backward()
        optimizer.step()
        history.append(loss.item())
    dist.destroy_process_group()
assert history[-1] < 0.7 * history[0]
