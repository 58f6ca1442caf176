import torch
from torch import nn

torch.manual_seed(0)
age, income = torch.rand(300) * 60 + 20, torch.rand(300) * 90000 + 10000
x = torch.stack([age, income], dim=1)
y = ((age > 50) & (income > 40000)).float()
net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(60):
    rows = torch.randint(300, (32,))
    loss = nn.functional.binary_cross_entropy_with_logits(net(x[rows]).squeeze(1), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
