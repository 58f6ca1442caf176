import math
import torch
import torch.nn as nn


class PlanarFlow(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.u = nn.Parameter(torch.randn(1, dim) * 0.1)
        self.w = nn.Parameter(torch.randn(1, dim) * 0.1)
        self.b = nn.Parameter(torch.zeros(1))

    def forward(self, z):
        wu = (self.w * self.u).sum()
        u_hat = self.u + (nn.functional.softplus(wu) - 1 - wu) * self.w / self.w.pow(2).sum()
        lin = torch.mm(z, self.w.t()) + self.b
        f_z = z + u_hat * torch.tanh(lin)
        psi = (1 - torch.tanh(lin) ** 2) * self.w
        log_det = torch.log(torch.abs(1 + torch.mm(psi, u_hat.t())) + 1e-8)
        return f_z, log_det.squeeze(-1)


class AffineCoupling(nn.Module):
    def __init__(self, dim, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(dim // 2, 16), nn.Tanh(), nn.Linear(16, dim))

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        s = torch.tanh(s)
        b = b * s.exp() + t
        return torch.cat([b, a] if self.flip else [a, b], dim=1), s.sum(1)


class LU(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.W = nn.Parameter(torch.linalg.qr(torch.randn(dim, dim))[0])

    def forward(self, x):
        return x @ self.W, torch.slogdet(self.W)[1].expand(x.shape[0])


flows = nn.ModuleList([LU(4), AffineCoupling(4, False), PlanarFlow(4), AffineCoupling(4, True)])
optimizer = torch.optim.Adam(flows.parameters(), lr=1e-2)
x = torch.randn(32, 4) * torch.tensor([1., 2., 0.5, 1.]) + 1
for i in range(5):
    z, total = x, torch.zeros(32)
    for flow in flows:
        z, ld = flow(z)
        total = total + ld
    log_prob = -0.5 * (z ** 2).sum(1) - 2 * math.log(2 * math.pi)
    loss = -(log_prob + total).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(i, f"{loss.item():.5f}")
# the log determinant equals that of the jacobian
x0 = torch.randn(1, 4)
J = torch.autograd.functional.jacobian(lambda v: flows[3](v)[0], x0).squeeze()
print(torch.allclose(torch.logdet(J.abs() * 0 + J.T @ J) / 2, flows[3](x0)[1], atol=1e-5))
A = torch.randn(3, 3, requires_grad=True)
S = A @ A.T + torch.eye(3)
L = torch.linalg.cholesky(S)
torch.logdet(S).backward()
print(torch.allclose(A.grad, 2 * torch.linalg.inv(S).detach() @ A.detach(), atol=1e-4))
print(L.grad_fn.name(), torch.logdet(S).grad_fn.name(), torch.slogdet(S).logabsdet.grad_fn.name())
