# u' = -u, u(0) = 1
import torch
import torch.nn as nn

torch.manual_seed(38)
u_net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(u_net.parameters(), lr=0.01)
history = []
for epoch in range(60):
    t = (torch.rand(40, 1) * 2).requires_grad_(True)
    u = u_net(t)
    (u_t,) = torch.autograd.grad(u.sum(), t, create_graph=True)
    loss = (u_t + u).pow(2).mean() + (u_net(torch.zeros(1, 1)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
