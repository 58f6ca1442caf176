import torch
from job import job, tell
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

with job() as rank:
    mesh = init_device_mesh("cpu", (2,))
    w = nn.Parameter(distribute_tensor(torch.rand(4, 6), mesh, [Shard(1)]))
    v = nn.Parameter(distribute_tensor(torch.rand(6, 3), mesh, [Shard(0)]))
    b = nn.Parameter(distribute_tensor(torch.rand(3), mesh, [Replicate()]))
    for _ in range(2):
        x = distribute_tensor(torch.rand(2, 4), mesh, [Replicate()])
        h = (x @ w).relu()
        y = h @ v  # a sum of two parts
        assert isinstance(y.placements[0], Partial)
        y = y.redistribute(mesh, [Replicate()]) + b
        loss = y.pow(2).mean().full_tensor() + (w * w).sum().full_tensor()
        loss.backward()
        norms = [p.grad.norm().full_tensor() for p in (w, v, b)]
        with torch.no_grad():
            for p, norm in zip((w, v, b), norms, strict=True):
                p -= 0.1 * p.grad / (1 + norm)
                p.grad = None
    part = DTensor.from_local(torch.ones(2) * rank, mesh, [Shard(0)], run_check=False)
    assert part.full_tensor().tolist() == [0, 0, 1, 1]
    tell([w, v, b])
