import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(73)
trunk = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 6))
optimizer = torch.optim.Adam(trunk.parameters(), lr=3e-3)
centres = torch.randn(6, 8)
history = []
for step in range(50):
    kind = torch.randint(0, 6, (32,))
    other = (kind + torch.randint(1, 6, (32,))) % 6
    anchor, near, far = (
        F.normalize(trunk(centres[which] + 0.3 * torch.randn(32, 8)), dim=1)
        for which in (kind, kind, other)
    )
    apart = (anchor - far).pow(2).sum(dim=1)
    together = (anchor - near).pow(2).sum(dim=1)
    loss = F.relu(together - apart + 0.5).mean()  # 0 for triplets that are easy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
