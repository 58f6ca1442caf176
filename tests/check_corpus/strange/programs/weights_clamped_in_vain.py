import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(200, 6)
y = x[:, :1] * x[:, 1:2]


def clip_weights(model, limit):
    for p in model.parameters():
        p = p.clamp(-limit, limit)


for step in range(40):
    rows = torch.randperm(200)[:32]
    loss = (net(x[rows]) - y[rows]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    clip_weights(net, 0.1)
