import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import stack_module_state, functional_call, vmap, grad, jvp, vjp, jacrev, hessian

models = [nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)) for _ in range(3)]
params, buffers = stack_module_state(models)
base = models[0]
x, y = (torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1]))
out = vmap(lambda p, b, x: functional_call(base, (p, b), (x,)), in_dims=(0, 0, None))(params, buffers, x)
print(out.shape, torch.allclose(out[1], models[1](x)), {k: tuple(v.shape) for k, v in params.items()})
opt = torch.optim.SGD(params.values(), lr=0.5)
for i in range(3):
    out = vmap(lambda p, x: functional_call(base, p, (x,)), in_dims=(0, None))(params, x)
    loss = F.cross_entropy(out.flatten(0, 1), y.repeat(3))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss)
p0 = {k: v.detach() for k, v in base.named_parameters()}


def f(p, x):
    return functional_call(base, p, (x,))


def ntk(a, b):
    j1, j2 = (vmap(jacrev(f), (None, 0))(p0, each) for each in (a, b))
    return sum(
        (torch.einsum("Naf,Mbf->NMab", u.flatten(2), v.flatten(2)) for u, v in zip(j1.values(), j2.values()))
    )


k = ntk(x[:2], x[2:])
print(k.shape, k[0, 0])


def ntk_vp(a, b):

    def get(x1, x2):
        _, vjp_fn = vjp(lambda p: f(p, x1), p0)
        return vmap(lambda v: jvp(lambda p: f(p, x2), (p0,), vjp_fn(v))[1])(torch.eye(2))

    return vmap(vmap(get, (None, 0)), (0, None))(a, b)


print(torch.allclose(ntk_vp(x[:2], x[2:]), k, atol=1e-05))


def loss_fn(p, x):
    return f(p, x).square().sum()


hvp = jvp(grad(lambda v: v.pow(4).sum()), (x[0],), (torch.ones(3),))[1]
print(torch.allclose(hvp, 12 * x[0] ** 2))
print(hessian(lambda v: (v**3).sum())(x[0]) - torch.diag(6 * x[0]))
lam = torch.tensor(0.3, requires_grad=True)
g = grad(lambda v: (lam * v.exp()).sum())(x[0])
g.sum().backward()
print(torch.allclose(lam.grad, x[0].exp().sum()))
per = vmap(grad(loss_fn), (None, 0))(p0, x)
print({k: tuple(v.shape) for k, v in per.items()})
norms = torch.stack([v.flatten(1).norm(dim=1) for v in per.values()]).norm(dim=0)
print(norms)
clip = (1.0 / norms).clamp(max=1.0)
print({k: torch.einsum("b...,b->...", v, clip).norm() for k, v in per.items()})
