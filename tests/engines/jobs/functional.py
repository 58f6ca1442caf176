import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as collectives
from job import job, tell

with job() as rank:
    w = torch.rand(4, 4, requires_grad=True)
    for _ in range(2):
        w.grad = None
        x = torch.rand(2, 4) + rank
        whole = collectives.all_gather_tensor_autograd(x @ w, 0, dist.group.WORLD)
        part = collectives.reduce_scatter_tensor_autograd(whole.tanh(), "sum", 0, dist.group.WORLD)
        loss = part.pow(2).mean()
        mean = collectives.all_reduce(loss.detach(), "sum", dist.group.WORLD)
        loss.backward()  # with a collective on its way, as `mean` was not looked at
        total = collectives.all_reduce(w.grad, "sum", dist.group.WORLD)
        with torch.no_grad():
            w -= 0.1 * total / 2 + 0 * mean
    tell([w])
