"""Functions with a pass back of their own: unlike recipes, an orange, a knob, and salt in place."""

import torch
import torch.nn as nn
from torch.autograd import Function, gradcheck
from torch.autograd.function import once_differentiable
from torch.nn.parameter import Parameter


class Unlike(Function):
    """How unlike two shelves of recipes are, each pair; some goods may count more than others."""

    @staticmethod
    def forward(ctx, ours, theirs, counts=None):
        ctx.save_for_backward(ours, theirs, counts)
        weighed = ours if counts is None else ours * counts.unsqueeze(0).expand_as(ours)
        squares = (weighed * ours).sum(1, keepdim=True)
        weighed_too = theirs if counts is None else theirs * counts
        return squares + (weighed_too * theirs).sum(1) - 2 * weighed.mm(theirs.t())

    @staticmethod
    def backward(ctx, g):
        ours, theirs, counts = ctx.saved_tensors
        to_ours = to_theirs = to_counts = None
        scale = 2 if counts is None else 2 * counts
        if ctx.needs_input_grad[0]:
            to_ours = (g.sum(1, keepdim=True) * ours - g.mm(theirs)) * scale
        if ctx.needs_input_grad[1]:
            to_theirs = (g.sum(0).unsqueeze(1) * theirs - g.t().mm(ours)) * scale
        if counts is not None and ctx.needs_input_grad[2]:
            crossed = (ours * g.mm(theirs)).sum(0)
            to_counts = g.sum(1) @ ours**2 + g.sum(0) @ theirs**2 - 2 * crossed
        return to_ours, to_theirs, to_counts


class Shelf(nn.Module):
    def __init__(self, recipes, goods, weighed=True):
        super().__init__()
        self.recipes, self.goods = Parameter(torch.empty(recipes, goods)), goods
        nn.init.uniform_(self.recipes, 0.2, 0.6)
        self.register_parameter("counts", Parameter(torch.empty(goods)) if weighed else None)
        if weighed:
            nn.init.uniform_(self.counts, 0.5, 2.0)

    def forward(self, others):
        return Unlike.apply(others, self.recipes, self.counts)

    def extra_repr(self):
        return f"recipes={len(self.recipes)}, weighed={self.counts is not None}"


ours = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
theirs = torch.randn(2, 4, dtype=torch.double, requires_grad=True)
counts = torch.rand(4, dtype=torch.double, requires_grad=True)
print(gradcheck(Unlike.apply, (ours, theirs), eps=1e-6, atol=1e-4))
print(gradcheck(Unlike.apply, (ours, theirs, counts)))
shelf = Shelf(7, 12)
unlike = shelf(torch.randn(3, 12))
print(shelf, unlike.shape, unlike.grad_fn.name())
print(unlike.grad_fn.next_functions[1][0].name(), unlike.grad_fn.needs_input_grad)
print(unlike.grad_fn.saved_tensors[1].shape)
unlike.sum().backward()
print(shelf.recipes.grad.norm(), shelf.counts.grad)
plain = Shelf(2, 5, weighed=False)
print(plain, [name for name, _ in plain.named_parameters()])


class VolumeAndSkin(Function):
    """The volume of an orange, and its skin, which is the slope of the volume."""

    @staticmethod
    def forward(ctx, radius):
        skin = 4 * torch.pi * radius**2
        ctx.save_for_backward(radius, skin)
        return skin * radius / 3, skin

    @staticmethod
    def backward(ctx, to_volume, to_skin):
        radius, skin = ctx.saved_tensors
        return to_volume * skin + to_skin * 8 * torch.pi * radius


def volume(radius):
    return VolumeAndSkin.apply(radius)[0]


radius = torch.tensor([0.5, 1.25, 3.0], dtype=torch.double, requires_grad=True)
print(volume(radius), gradcheck(volume, (radius,)), torch.autograd.gradgradcheck(volume, (radius,)))


class Louder(Function):
    @staticmethod
    def forward(sound, steps):
        return sound * 2**steps

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.steps = inputs
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, g):
        return (None, None) if g is None else (g * 2**ctx.steps, None)


loud = Louder.apply(radius, 3)
print(loud, loud.grad_fn.steps)
loud.sum().backward()
print(radius.grad)


class AddSalt(Function):
    @staticmethod
    def forward(ctx, soup):
        pot = soup.numpy()  # the same memory
        pot += 0.5
        ctx.mark_dirty(soup)
        return soup

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g


soup = torch.tensor(3.0, requires_grad=True, dtype=torch.double).clone()
tasted = soup * soup
AddSalt.apply(soup)
print(soup)
try:
    tasted.backward()
except RuntimeError as error:
    print(str(error).split(";")[0])
try:
    AddSalt.apply(torch.tensor(3.0, requires_grad=True))
except RuntimeError as error:
    print(error)
