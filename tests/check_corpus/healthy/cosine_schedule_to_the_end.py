import torch
from torch import nn

torch.manual_seed(9)
steps = 200
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
x = torch.randn(32, 4)
y = x.sum(1, keepdim=True).sin()
history = []
for step in range(steps):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    history.append(loss.item())
