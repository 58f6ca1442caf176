import torch
import torch.distributed as dist
import torch.distributed.nn.functional as differentiable
from job import job, tell

with job() as rank:
    w = torch.rand(4, 4, requires_grad=True)
    v = torch.rand(4, requires_grad=True)
    for _ in range(2):
        w.grad = v.grad = None
        h = torch.stack(differentiable.all_gather((torch.rand(2, 4) + rank) @ w)).sum(0)
        mean = differentiable.all_reduce(h.tanh().mean(0))
        (mean * v).sum().backward()
        for p in (w, v):
            dist.all_reduce(p.grad)
        with torch.no_grad():
            w -= 0.1 * w.grad
            v -= 0.1 * v.grad
    tell([w, v])
