import torch
import torch.nn as nn
import torch.autograd as autograd


class ResNetLayer(nn.Module):
    def __init__(self, n, inner):
        super().__init__()
        self.f1 = nn.Linear(n, inner)
        self.f2 = nn.Linear(inner, n)
        self.norm = nn.LayerNorm(n)
        self.f1.weight.data.mul_(0.3)
        self.f2.weight.data.mul_(0.3)

    def forward(self, z, x):
        return torch.tanh(x + self.f2(torch.relu(self.f1(z))))


def forward_iteration(f, x0, max_iter=60, tol=1e-6):
    f0 = f(x0)
    res = []
    for k in range(max_iter):
        x = f0
        f0 = f(x)
        res.append((f0 - x).norm().item() / (1e-5 + f0.norm().item()))
        if res[-1] < tol:
            break
    return f0, res


class DEQFixedPoint(nn.Module):
    def __init__(self, f, solver, **kwargs):
        super().__init__()
        self.f = f
        self.solver = solver
        self.kwargs = kwargs

    def forward(self, x):
        with torch.no_grad():
            z, self.forward_res = self.solver(lambda z: self.f(z, x), torch.zeros_like(x), **self.kwargs)
        z = self.f(z, x)
        z0 = z.clone().detach().requires_grad_()
        f0 = self.f(z0, x)

        def backward_hook(grad):
            g, self.backward_res = self.solver(lambda y: autograd.grad(f0, z0, y, retain_graph=True)[0] + grad, grad, **self.kwargs)
            return g

        z.register_hook(backward_hook)
        return z


f = ResNetLayer(4, 8).double()
deq = DEQFixedPoint(f, forward_iteration, tol=1e-12, max_iter=200).double()
x = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
print(torch.autograd.gradcheck(deq, x, eps=1e-5, atol=1e-3, check_undefined_grad=False))
out = deq(x)
out.pow(2).sum().backward()
print(x.grad)


class Sqrt(torch.autograd.Function):
    """Implicit: y*y = x."""

    @staticmethod
    def forward(ctx, x):
        y = torch.ones_like(x)
        for _ in range(30):
            y = 0.5 * (y + x / y)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        y, = ctx.saved_tensors
        with torch.enable_grad():
            z = y.detach().requires_grad_()
            h = z * z
            dh, = torch.autograd.grad(h.sum(), z, create_graph=True)
        return g / dh


a = torch.tensor([4.0, 9.0], requires_grad=True)
r = Sqrt.apply(a)
r.sum().backward()
print(r, a.grad)


class Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx, A, b):
        x = torch.linalg.solve(A, b)
        ctx.save_for_backward(A, x)
        return x

    @staticmethod
    def backward(ctx, g):
        A, x = ctx.saved_tensors
        gb = torch.linalg.solve(A.transpose(-1, -2), g)
        return -gb.unsqueeze(-1) * x.unsqueeze(-2), gb


A = (torch.randn(3, 3, dtype=torch.double) + 3 * torch.eye(3, dtype=torch.double)).requires_grad_()
b = torch.randn(3, dtype=torch.double, requires_grad=True)
print(torch.autograd.gradcheck(Solve.apply, (A, b)), torch.autograd.gradgradcheck(Solve.apply, (A, b)))
