import torch
import torch.nn as nn


class Func(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = (nn.Linear(2, 6), nn.Linear(6, 2))

    def forward(self, t, y):
        return self.l2(torch.tanh(self.l1(y)))


def rk4(f, y, t, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


class Adjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, func, y0, n, *params):
        ctx.func, ctx.n = (func, n)
        with torch.no_grad():
            y = y0
            for i in range(n):
                y = rk4(func, y, i / n, 1 / n)
        ctx.save_for_backward(y, *params)
        return y

    @staticmethod
    def backward(ctx, a):
        y, *params = ctx.saved_tensors
        gp = [torch.zeros_like(p) for p in params]
        for i in reversed(range(ctx.n)):
            h = 1 / ctx.n
            with torch.enable_grad():
                y = y.detach().requires_grad_()
                f = ctx.func(i / ctx.n, y)
                vy, *vp = torch.autograd.grad(f, [y, *params], a, allow_unused=True)
            y, a = (y.detach() - h * f.detach(), a + h * vy)
            gp = [g + h * v for g, v in zip(gp, vp)]
        return (None, a, None, *gp)


f = Func()
y0 = torch.tensor([[1.0, 0.0]], requires_grad=True)
y = Adjoint.apply(f, y0, 20, *f.parameters())
print(y, y.grad_fn.name())
(y**2).sum().backward()
print(y0.grad, f.l1.weight.grad.norm(), f.l2.bias.grad)
f.zero_grad()
z = y0
for i in range(20):
    z = rk4(f, z, i / 20, 1 / 20)
(z**2).sum().backward()
print(f.l2.bias.grad, f.l1.weight.grad.norm())
