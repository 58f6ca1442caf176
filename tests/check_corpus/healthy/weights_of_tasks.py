import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(77)
trunk = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
heads = nn.ModuleList([nn.Linear(32, 1), nn.Linear(32, 3)])
log_variances = nn.Parameter(torch.zeros(2))
model = [*trunk.parameters(), *heads.parameters()]
groups = [{"params": model}, {"params": [log_variances], "lr": 0.02}]
optimizer = torch.optim.Adam(groups, lr=0.01)
x = torch.randn(128, 6)
price, kind = 3 * x[:, :1] - x[:, 1:2], x[:, 2:5].argmax(dim=1)
history = []
for step in range(40):
    features = trunk(x)
    parts = F.mse_loss(heads[0](features), price), F.cross_entropy(heads[1](features), kind)
    losses = torch.stack(parts)
    loss = (losses * (-log_variances).exp() + log_variances).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(losses.sum().item())
