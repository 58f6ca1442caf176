"""A marble in a bowl that is steeper one way than the other: curvature by many roads."""

import torch
from torch.autograd import grad
from torch.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp


def bowl(x):
    return (x**4).sum() / 2 + (x[:-1] * x[1:]).sum() + (x - 2).square().sum()


marble = torch.tensor([0.4, 1.5, -0.8, 1.1, 0.2], dtype=torch.float64, requires_grad=True)
(slope,) = grad(bowl(marble), marble, create_graph=True)
print(slope, slope.grad_fn is not None)
push = torch.tensor([2.0, 0.0, -1.0, 1.0, 0.5], dtype=torch.float64)
(felt,) = grad(slope, marble, grad_outputs=push, retain_graph=True)
print(felt)
curves = torch.stack([grad(slope[k], marble, retain_graph=True)[0] for k in range(5)])
print(curves)
print(torch.allclose(curves, hessian(bowl, marble)), torch.allclose(curves @ push, felt))
print(hvp(bowl, marble, push)[1], vhp(bowl, marble, push)[1])


def mixed(sugar, milk):
    return torch.cos(milk) * sugar, milk.sum() / sugar


sugar, milk = torch.full((2,), 0.5), torch.ones(2)
rates = jacobian(mixed, (sugar, milk))
print(rates[0][1], rates[1][0])
print(jvp(mixed, (sugar, milk), (torch.zeros(2), torch.ones(2))))
print(vjp(mixed, (sugar, milk), (torch.zeros(2), torch.ones(2))))
print(jacobian(lambda rows: rows.sin().sum(dim=1), torch.eye(3), vectorize=True))
print(hessian(lambda sugar, milk: (sugar**2 * milk).sum(), (sugar, milk))[1][0])

rolling = torch.tensor([1.0, 0.5, -1.0], requires_grad=True)
for _ in range(5):  # each step goes to the bottom of the bowl that touches here
    depth = bowl(rolling)
    (down,) = grad(depth, rolling, create_graph=True)
    shape = torch.stack([grad(part, rolling, retain_graph=True)[0] for part in down])
    with torch.no_grad():
        rolling -= torch.linalg.solve(shape, down)
print(rolling, depth.item(), grad(bowl(rolling), rolling)[0].abs().max() < 1e-3)

way = torch.ones(5, dtype=torch.float64)
for _ in range(60):
    way = way / way.norm()
    bent = grad(slope, marble, way, retain_graph=True)[0]
    steepest = torch.dot(way, bent)
    way = bent
print(steepest, torch.linalg.eigvalsh(curves).abs().max())

lonely = torch.zeros(3, requires_grad=True)
print(grad(bowl(marble), [marble, lonely], allow_unused=True)[1])
for action in (
    lambda: grad(bowl(marble), lonely),
    lambda: grad(marble * 3, marble),
    lambda: grad(torch.ones(1), marble),
):
    try:
        action()
    except RuntimeError as error:
        print(error)
