"""A flood wave runs down a river; then levels are ranked, shared out and summed."""

import torch
import torch.nn as nn


class Bed(nn.Module):
    """How fast the level changes at each of three gauges."""

    def __init__(self):
        super().__init__()
        self.flow = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 3))

    def forward(self, hour, level):
        return self.flow(level**2) - level * hour


def midpoint(bed, level, hour, span):
    halfway = level + span / 2 * bed(hour, level)
    return level + span * bed(hour + span / 2, halfway)


class Flood(torch.autograd.Function):
    """Keeps the levels at the full hours only; the pass back computes between them again."""

    @staticmethod
    def forward(ctx, bed, start, hours, *weights):
        ctx.bed = bed
        with torch.no_grad():
            levels = [start]
            for k in range(len(hours) - 1):
                levels.append(midpoint(bed, levels[-1], hours[k], hours[k + 1] - hours[k]))
        levels = torch.stack(levels)
        ctx.save_for_backward(levels, hours, *weights)
        return levels

    @staticmethod
    def backward(ctx, g):
        levels, hours, *weights = ctx.saved_tensors
        to_level = g[-1]
        to_weights = [torch.zeros_like(weight) for weight in weights]
        for k in reversed(range(len(hours) - 1)):
            with torch.enable_grad():
                level = levels[k].detach().requires_grad_(True)
                later = midpoint(ctx.bed, level, hours[k], hours[k + 1] - hours[k])
                to_level, *more = torch.autograd.grad(later, (level, *weights), to_level)
            to_level = to_level + g[k]
            for total, part in zip(to_weights, more):
                total += part
        return (None, to_level, None, *to_weights)


bed = Bed()
start = torch.tensor([[0.9, 0.4, 0.1]], requires_grad=True)
hours = torch.linspace(0.0, 1.0, 5)
levels = Flood.apply(bed, start, hours, *bed.parameters())
print(levels.shape, levels.grad_fn.name())
levels.square().mean().backward()
found = [start.grad.clone(), *(weight.grad.clone() for weight in bed.parameters())]
bed.zero_grad()
start.grad = None
levels = [start]
for k in range(4):
    levels.append(midpoint(bed, levels[-1], hours[k], hours[k + 1] - hours[k]))
torch.stack(levels).pow(2).mean().backward()
wanted = [start.grad, *(weight.grad for weight in bed.parameters())]
print([torch.allclose(one, other, atol=1e-6) for one, other in zip(found, wanted)])

gauges = torch.tensor([1.5, -0.5, 4.0, 0.25, 2.0], requires_grad=True)
ranked, order = gauges.sort(descending=True)
count = torch.arange(1, 6)
spill = ((2 + count * ranked) > ranked.cumsum(0)).sum()
share = (ranked.cumsum(0)[spill - 1] - 2) / spill  # what is above it adds up to 2
above = torch.clamp(gauges - share, min=0)
print(above, order, above.sum())
(above * torch.tensor([5.0, 4.0, 3.0, 2.0, 1.0])).sum().backward()
print(gauges.grad)
if gauges.mean() > 1:
    print(torch.where(gauges > 1, gauges**3, gauges.exp()))
print(torch.einsum("i,j->ij", gauges, gauges).trace(), torch.cumprod(gauges, 0), gauges.prod())
print(torch.median(gauges), gauges.std(), gauges.var(unbiased=False))
mixed = torch.logcumsumexp(gauges, 0).mean() + gauges.kthvalue(3)[0]
mixed = mixed + torch.outer(gauges, gauges).triu().sum() + gauges.unfold(0, 3, 2).max()
mixed.backward()
print(gauges.grad)
