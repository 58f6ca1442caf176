import torch
from torch import nn


class FixedPoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, W, x):
        with torch.no_grad():
            z = torch.zeros_like(x)
            for _ in range(100):
                z = torch.tanh(z @ W.T + x)
        ctx.save_for_backward(W, x, z)
        return z

    @staticmethod
    def backward(ctx, g):
        W, x, z = ctx.saved_tensors
        with torch.enable_grad():
            z0 = z.detach().requires_grad_()
            Wr, xr = (W.detach().requires_grad_(), x.detach().requires_grad_())
            f = torch.tanh(z0 @ Wr.T + xr)
        u = g
        for _ in range(100):
            u = g + torch.autograd.grad(f, z0, u, retain_graph=True)[0]
        return torch.autograd.grad(f, (Wr, xr), u)


torch.manual_seed(0)
W = (torch.randn(3, 3, dtype=torch.float64) * 0.2).requires_grad_()
x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
z = FixedPoint.apply(W, x)
z.sum().backward()
print(z, W.grad, x.grad)
print(torch.autograd.gradcheck(FixedPoint.apply, (W, x)))


class DEQ(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, x):
        with torch.no_grad():
            z = torch.zeros_like(x)
            for _ in range(50):
                z = self.f(z, x)
        z = self.f(z, x)
        z0 = z.clone().detach().requires_grad_()
        f0 = self.f(z0, x)

        def hook(g):
            u = g
            for _ in range(50):
                u = torch.autograd.grad(f0, z0, u, retain_graph=True)[0] + g
            return u

        if z.requires_grad:
            z.register_hook(hook)
        return z


W2 = W.detach().requires_grad_()
y = DEQ(lambda z, x: torch.tanh(z @ W2.T + x))(x.detach())
y.sum().backward()
print(torch.allclose(W2.grad, W.grad))
root = torch.tensor(2.0, requires_grad=True)
s = torch.tensor(1.5)
for _ in range(5):
    s = s - (s**2 - root) / (2 * s)
s.backward()
print(s, root.grad)
