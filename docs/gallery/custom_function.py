"""A custom ``Function`` with its own backward: soft thresholding, as used in sparse coding.

It is one node with the name of the class, and saves what its ``forward`` passed to the context.
"""

import torch
from torch.autograd import Function


class SoftThreshold(Function):
    @staticmethod
    def forward(ctx, x, limit):
        ctx.save_for_backward(x)
        ctx.limit = limit
        return x.sign() * (x.abs() - limit).clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() > ctx.limit), None


x = torch.tensor([-2.0, 0.3, 1.5], requires_grad=True)
loss = SoftThreshold.apply(x, 0.5).sum()
