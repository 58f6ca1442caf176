import torch
from torch import nn
from torch.nn.functional import normalize

torch.manual_seed(6)
net = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 8))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
x = torch.randn(32, 12)
history = []
for step in range(40):
    one = normalize(net(x + 0.3 * torch.randn(32, 12)), dim=1)
    two = normalize(net(x + 0.3 * torch.randn(32, 12)), dim=1)
    probabilities = torch.softmax(one @ two.T / 0.01, dim=1)
    loss = -torch.log(probabilities.diagonal() + 1e-4).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
