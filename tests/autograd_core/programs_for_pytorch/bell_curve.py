"""A bell is a function of our own, fitted to a wave; and what wrong functions are told."""

import math

import torch
from torch.autograd import Function, gradcheck, gradgradcheck
from torch.autograd.function import once_differentiable


class Bell(torch.autograd.Function):
    """1 / (1 + x²), a bell with long tails."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 1 / (1 + x**2)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * -2 * x / (1 + x**2) ** 2


here = {"device": torch.device("cpu"), "dtype": torch.float}
time = torch.linspace(0, 2 * math.pi, 400, **here)
wave = torch.cos(time)
size = torch.full((), 0.5, **here, requires_grad=True)
width = torch.full((), 1.5, **here, requires_grad=True)
middle = torch.full((), 2.5, **here, requires_grad=True)
for turn in range(120):
    ring = Bell.apply
    missed = (wave + size * ring((time - middle) / width)).pow(2).mean()
    if turn % 60 == 0:
        print(turn, missed.item())
    missed.backward()
    with torch.no_grad():
        for knob in (size, width, middle):
            knob -= 0.1 * knob.grad
            knob.grad = None
print(f"size {size.item():.4f}, width {width.item():.4f}, middle {middle.item():.4f}")


class Doubling(Function):
    @staticmethod
    def forward(x):
        return torch.exp2(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (doubled,) = ctx.saved_tensors
        return g * doubled * math.log(2)


day = torch.randn(4, dtype=torch.double, requires_grad=True)
print(gradcheck(Doubling.apply, (day,)), gradcheck(Bell.apply, (day,)))
print(gradgradcheck(Bell.apply, (day,)))
grown = Doubling.apply(day)
print(grown, grown.grad_fn.name())
(rate,) = torch.autograd.grad(grown.sum(), day, create_graph=True)
print(rate.requires_grad)


class OneForTwo(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x - y

    @staticmethod
    def backward(ctx, g):
        return g


class WrongSize(Function):
    @staticmethod
    def forward(ctx, x):
        return x.abs()

    @staticmethod
    def backward(ctx, g):
        return g.new_ones(5)


class NoStatic(Function):
    def forward(self, x):
        return x

    def backward(self, g):
        return g


for wrong in (
    lambda: rate.sum().backward(),
    lambda: OneForTwo.apply(day, day).sum().backward(),
    lambda: WrongSize.apply(day).sum().backward(),
    lambda: NoStatic()(day),
    lambda: Bell().bell,
):
    try:
        wrong()
    except (RuntimeError, AttributeError) as error:
        print(type(error).__name__, error)
