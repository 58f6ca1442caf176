"""A hand-written backward that is wrong by a factor: nothing raises, it only learns badly.

The derivative of x² is 2x; the 2 was forgotten.
"""

import torch
from torch.autograd import Function


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x


x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
loss = (Square.apply(x).exp() * 0.1).sum()
loss.backward()

print("x.grad =", x.grad)
