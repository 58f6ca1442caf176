"""Slopes, curves and pushes of simple hills, by functions that take functions."""

import torch
import torch.autograd.forward_ad as forward
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp

place = torch.randn(3)


def height(x):
    return torch.cos(x).sum() + x.square().sum() / 4


def bend(x):
    return grad(height)(x).sum()


print(grad(height)(place), torch.allclose(grad(height)(place), place / 2 - place.sin()))
print(grad(bend)(place))
print(grad(lambda x, w: (x * w.exp()).sum(), argnums=(0, 1))(place, place / 2))
print(grad_and_value(height)(place))
slope, shade = grad(lambda x: (x.pow(4).sum(), x - 1), has_aux=True)(place)
print(slope, shade)
there, back = vjp(torch.sigmoid, place)
print(there, back(torch.full((3,), 2.0)))
print(jvp(torch.sigmoid, (place,), (torch.ones(3),)))
by_rows, by_columns = jacrev(torch.sin)(place), jacfwd(torch.sin)(place)
print(by_rows.shape, torch.allclose(by_rows, by_columns))
print(hessian(lambda x: (x**3).sum() * x[0])(place).diagonal())

road = torch.nn.Linear(3, 2)
stones = {name: stone.detach() for name, stone in road.named_parameters()}
print(functional_call(road, stones, (place,)))


def toll(stones):
    return functional_call(road, stones, (place,)).pow(2).sum()


print({name: tuple(each.shape) for name, each in grad(toll)(stones).items()})
with forward.dual_level():
    moving = forward.make_dual(place, torch.ones(3))
    seen = forward.unpack_dual(torch.exp(moving) * moving.sin())
    print(seen.primal, seen.tangent)
