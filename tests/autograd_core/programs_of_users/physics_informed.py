import torch
import torch.nn as nn


class PINN(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
        self.net.apply(self.init)

    @staticmethod
    def init(m):
        if isinstance(m, nn.Linear):
            nn.init.xavier_normal_(m.weight)
            m.bias.data.fill_(0.0)

    def forward(self, x, t):
        return self.net(torch.cat([x, t], dim=1))


def d(u, x):
    return torch.autograd.grad(u, x, grad_outputs=torch.ones_like(u), retain_graph=True, create_graph=True)[0]


model = PINN()
nu = 0.01 / torch.pi
x = torch.linspace(-1, 1, 15).view(-1, 1).requires_grad_(True)
t = torch.rand(15, 1, requires_grad=True)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for it in range(4):
    opt.zero_grad()
    u = model(x, t)
    u_x = d(u, x)
    u_t = d(u, t)
    u_xx = d(u_x, x)
    f = u_t + u * u_x - nu * u_xx
    loss = (f ** 2).mean() + ((model(x, torch.zeros_like(t)) + torch.sin(torch.pi * x)) ** 2).mean()
    loss.backward()
    opt.step()
    print(it, loss.item())
u = model(x, t); u_xx = d(d(u, x), x); u_xxx = d(u_xx, x)
print(u_xx.mean(), u_xxx.mean(), u_xxx.grad_fn is not None)
lbfgs = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=3, history_size=10, line_search_fn="strong_wolfe")


def closure():
    lbfgs.zero_grad()
    u = model(x, t)
    f = d(u, t) + u * d(u, x) - nu * d(d(u, x), x)
    loss = (f ** 2).mean()
    loss.backward()
    return loss


print(lbfgs.step(closure))
# laplacian by a loop over dimensions
def laplacian(fn, p):
    p = p.detach().requires_grad_()
    g = torch.autograd.grad(fn(p).sum(), p, create_graph=True)[0]
    lap = 0
    for i in range(p.shape[1]):
        lap += torch.autograd.grad(g[:, i].sum(), p, create_graph=True)[0][:, i]
    return lap


pts = torch.randn(5, 3)
print(laplacian(lambda p: (p ** 3).sum(1) * torch.sin(p[:, 0]), pts))
