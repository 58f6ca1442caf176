import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(84)
teacher = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4))
student = nn.Linear(6, 4)
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
x = torch.randn(64, 6)

for epoch in range(25):
    t_logits = teacher(x)
    s_logits = student(x)
    loss = F.mse_loss(s_logits, t_logits)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
