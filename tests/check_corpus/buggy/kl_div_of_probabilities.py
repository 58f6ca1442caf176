import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(22)
teacher = nn.Linear(6, 5).requires_grad_(False)
student = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 5))
optimizer = torch.optim.Adam(student.parameters(), lr=0.01)
kl = nn.KLDivLoss(reduction="batchmean")
x = torch.randn(64, 6)

for epoch in range(40):
    soft_targets = F.softmax(teacher(x) / 2, dim=1)
    student_out = F.softmax(student(x) / 2, dim=1)
    loss = kl(student_out, soft_targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print("distillation loss", loss.item())
