import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 1)).double()
xt = torch.rand(16, 2, dtype=torch.float64).requires_grad_()


def residual(xt):
    u = net(xt)
    du = torch.autograd.grad(u, xt, torch.ones_like(u), create_graph=True)[0]
    u_x, u_t = (du[:, :1], du[:, 1:])
    u_xx = torch.autograd.grad(u_x, xt, torch.ones_like(u_x), create_graph=True)[0][:, :1]
    u_xxx = torch.autograd.grad(u_xx.sum(), xt, create_graph=True)[0][:, 0]
    return (u_t + u * u_x - 0.01 * u_xx, u_xxx)


opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe")


def closure():
    opt.zero_grad()
    r, t = residual(xt)
    loss = (r**2).mean() + 0.001 * (t**2).mean()
    loss.backward()
    return loss


for i in range(3):
    print(opt.step(closure))
print(residual(xt)[1][:3])
x = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
y = torch.sin(x)
for n in range(6):
    (y,) = torch.autograd.grad(y, x, create_graph=True)
    print(n + 1, y)
