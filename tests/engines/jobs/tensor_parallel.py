import torch
from job import job, tell
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        return self.down(self.up(x).relu())


with job():
    mesh = init_device_mesh("cpu", (2,))
    net = parallelize_module(MLP(), mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.rand(4, 8)).pow(2).mean().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # of all parts: a collective
        optimizer.step()
    tell(net.parameters())
