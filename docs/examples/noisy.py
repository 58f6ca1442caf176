import torch
from torch import nn

x = torch.linspace(-1, 1, 96).reshape(32, 3)
y = x.sum(dim=1, keepdim=True)

net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(0.1), nn.Linear(8, 1))
for parameter in net.parameters():
    nn.init.constant_(parameter, 0.5)

optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
