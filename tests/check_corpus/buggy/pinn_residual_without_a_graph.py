# u' = -u, u(0) = 1
import torch
import torch.nn as nn

torch.manual_seed(83)
u_net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(u_net.parameters(), lr=0.01)
t = torch.linspace(0, 2, 30).unsqueeze(1).requires_grad_(True)
t0 = torch.zeros(1, 1)

for epoch in range(60):
    u = u_net(t)
    u_t = torch.autograd.grad(u, t, torch.ones_like(u), retain_graph=True)[0]
    residual = u_t + u
    loss_ode = (residual**2).mean()
    loss_start = (u_net(t0) - 1).pow(2).mean()
    loss = loss_start + loss_ode
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss_ode.item(), loss_start.item())
