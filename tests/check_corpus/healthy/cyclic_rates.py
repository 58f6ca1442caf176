import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(86)
model = nn.Sequential(nn.Linear(6, 32), nn.ELU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=10, T_mult=2)
x = torch.randn(96, 6)
y = (x[:, 0] * x[:, 1] > 0).long()
history = []
for step in range(50):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    history.append(loss.item())
