import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(94)
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
history = []
for step in range(30):
    sides = torch.rand(40, 2) * (torch.rand(40, 1) > 0.3)  # some are no boxes
    seen = torch.cat([sides, torch.randn(40, 4)], dim=1)
    shape = sides.min(dim=1).values / sides.max(dim=1).values
    is_box = sides.sum(dim=1) > 0
    loss = F.mse_loss(net(seen).squeeze(1)[is_box], shape[is_box])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
