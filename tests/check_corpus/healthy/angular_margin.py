import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(82)
trunk = nn.Sequential(nn.Linear(8, 32), nn.PReLU(), nn.Linear(32, 16))
classes = nn.Parameter(torch.randn(5, 16))
optimizer = torch.optim.SGD([*trunk.parameters(), classes], lr=0.05, momentum=0.9)
centres = torch.randn(5, 8) * 2
history = []
for step in range(40):
    labels = torch.randint(0, 5, (32,))
    features = trunk(centres[labels] + 0.3 * torch.randn(32, 8))
    cosines = F.normalize(features, dim=1) @ F.normalize(classes, dim=1).T
    angles = torch.acos(cosines.clamp(-1 + 1e-6, 1 - 1e-6))
    margin = 0.3 * F.one_hot(labels, 5)
    loss = F.cross_entropy(64 * torch.cos(angles + margin), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
