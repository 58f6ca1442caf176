import torch
from torch import nn

torch.manual_seed(77)


def bce(p, y):
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()


ages = torch.randint(18, 90, (60, 1)).float()
income = torch.rand(60, 1) * 500
x = torch.cat([ages, income], dim=1)
y = (ages > 50).float()
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(15):
    p = torch.sigmoid(net(x))
    loss = bce(p, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, loss.item())
