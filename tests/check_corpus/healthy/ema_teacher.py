import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
student = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 3))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.Adam(student.parameters(), lr=0.01)
labelled, labels = torch.randn(12, 6), torch.arange(12) % 3
unlabelled = torch.randn(60, 6)
history = []

for step in range(50):
    with torch.no_grad():
        soft = F.softmax(teacher(unlabelled), dim=1)
    consistency = F.mse_loss(F.softmax(student(unlabelled), dim=1), soft)
    supervised = F.cross_entropy(student(labelled), labels)
    loss = supervised + min(1.0, step / 20) * consistency
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.mul_(0.95).add_(s, alpha=0.05)
    history.append(supervised.item())
