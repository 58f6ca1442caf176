import torch
import torch.nn as nn


class ODEFunc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 2))

    def forward(self, t, y):
        return self.net(y ** 3)


def rk4(func, y, t, dt):
    k1 = func(t, y)
    k2 = func(t + dt / 2, y + dt * k1 / 2)
    k3 = func(t + dt / 2, y + dt * k2 / 2)
    k4 = func(t + dt, y + dt * k3)
    return y + dt * (k1 + 2 * k2 + 2 * k3 + k4) / 6


class Adjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, func, y0, ts, *params):
        ctx.func = func
        with torch.no_grad():
            ys = [y0]
            for i in range(len(ts) - 1):
                ys.append(rk4(func, ys[-1], ts[i], ts[i + 1] - ts[i]))
        out = torch.stack(ys)
        ctx.save_for_backward(out, ts, *params)
        return out

    @staticmethod
    def backward(ctx, grad):
        out, ts, *params = ctx.saved_tensors
        a = torch.zeros_like(out[0])
        gp = [torch.zeros_like(p) for p in params]
        for i in range(len(ts) - 1, 0, -1):
            a = a + grad[i]
            with torch.enable_grad():
                y = out[i - 1].detach().requires_grad_(True)
                y1 = rk4(ctx.func, y, ts[i - 1], ts[i] - ts[i - 1])
                got = torch.autograd.grad(y1, (y, *params), a)
            a = got[0]
            for acc, g in zip(gp, got[1:]):
                acc += g
        return (None, a + grad[0], None, *gp)


func = ODEFunc()
y0 = torch.tensor([[2., 0.]], requires_grad=True)
ts = torch.linspace(0., 1., 6)
out = Adjoint.apply(func, y0, ts, *func.parameters())
print(out.shape, out.grad_fn.name())
out.pow(2).mean().backward()
g1 = [p.grad.clone() for p in func.parameters()]
gy = y0.grad.clone()
func.zero_grad()
y0.grad = None
ys = [y0]
for i in range(5):
    ys.append(rk4(func, ys[-1], ts[i], ts[i + 1] - ts[i]))
torch.stack(ys).pow(2).mean().backward()
print([torch.allclose(p.grad, g, atol=1e-5) for p, g in zip(func.parameters(), g1)], torch.allclose(gy, y0.grad, atol=1e-5))
# reverse-mode through loops, conditionals, where, sort, cumsum
v = torch.tensor([3., -1., 2., 0.5], requires_grad=True)
s, i = v.sort(descending=True)
cs = s.cumsum(0)
k = torch.arange(1, 5)
rho = ((1 + k * s) > cs).sum()
tau = (cs[rho - 1] - 1) / rho
proj = torch.clamp(v - tau, min=0)
print(proj, i, proj.sum())
(proj * torch.tensor([1., 2., 3., 4.])).sum().backward()
print(v.grad)
if v.mean() > 0:
    w = torch.where(v > 1, v ** 2, v.exp())
print(w)
print(torch.einsum('i,j->ij', v, v).trace(), torch.cumprod(v, 0), v.prod(), torch.median(v), v.std(), v.var(unbiased=False))
total = torch.logcumsumexp(v, 0).sum() + v.kthvalue(2)[0] + torch.outer(v, v).triu().sum() + v.unfold(0, 2, 1).max()
total.backward()
print(v.grad)
