import torch
from torch import nn

torch.manual_seed(8)
x = torch.randn(20, 4)
y = torch.randn(20, 4)
y[:, 0] = x[:, 0]
net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-2)
history = []
for step in range(40):
    a, b = net(x), net(y)
    # every pair on purpose: soft ranks
    ranks = torch.sigmoid(a - a.squeeze(1)).sum(1)
    wanted = torch.sigmoid(5 * (x[:, :1] - x[:, 0])).sum(1)
    loss = (ranks - wanted).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
