import torch
from torch import nn, optim

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = optim.SGD(model.parameters(), lr=0.5)
x = torch.randn(32, 4)
target = x[:, :1] * x[:, 1:2]

for _ in range(4):
    optimizer.zero_grad()
    loss = (model(x) - target).pow(2).mean()
    loss.backward()
    optimizer.step()
