import torch
from torch import nn
from torch.nn import functional as F


def mixup(x, y, alpha=0.4):
    lam = torch.distributions.Beta(alpha, alpha).sample()
    order = torch.randperm(len(x))
    return lam * x + (1 - lam) * x[order], y, y[order], lam


def mixup_loss(scores, first, second, lam):
    return F.cross_entropy(scores, first)


torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for step in range(30):
    rows = torch.randint(256, (32,))
    mixed, first, second, lam = mixup(x[rows], y[rows])
    loss = mixup_loss(net(mixed), first, second, lam)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
