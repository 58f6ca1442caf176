import torch
from torch.func import grad, vjp, jvp, jacrev, jacfwd, hessian, functional_call, grad_and_value
import torch.autograd.forward_ad as fwAD

f = lambda x: torch.sin(x).sum()
x = torch.randn(4)
print(grad(f)(x), torch.allclose(grad(f)(x), x.cos()))
print(grad(lambda x: grad(lambda y: (y ** 3).sum())(x).sum())(x))
print(grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x * 2))
print(grad_and_value(f)(x))
(g, aux) = grad(lambda x: (x.pow(2).sum(), x * 2), has_aux=True)(x)
print(g, aux)
out, pull = vjp(torch.exp, x)
print(out, pull(torch.ones(4)))
print(jvp(torch.exp, (x,), (torch.ones(4),)))
print(jacrev(torch.tanh)(x).shape, torch.allclose(jacrev(torch.tanh)(x), jacfwd(torch.tanh)(x)))
print(hessian(lambda x: (x ** 3).sum())(x).diagonal())
lin = torch.nn.Linear(4, 2)
params = {k: v.detach() for k, v in lin.named_parameters()}
print(functional_call(lin, params, (x,)))
print({k: v.shape for k, v in grad(lambda p: functional_call(lin, p, (x,)).pow(2).sum())(params).items()})
with fwAD.dual_level():
    dual = fwAD.make_dual(x, torch.ones(4))
    o = fwAD.unpack_dual(torch.sin(dual) * dual)
    print(o.primal, o.tangent)
