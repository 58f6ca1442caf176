import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(76)
teacher = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 4))
student = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
x = torch.randn(128, 6)
y = x[:, :4].argmax(dim=1)
optimizer = torch.optim.Adam(teacher.parameters(), lr=0.01)
history = []
for step in range(30):
    loss = F.cross_entropy(teacher(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
teacher.eval()
optimizer = torch.optim.Adam(student.parameters(), lr=0.01)
temperature = 2.0
for step in range(40):
    with torch.no_grad():
        wanted = F.softmax(teacher(x) / temperature, dim=1)
    said = student(x)
    soft = F.kl_div(F.log_softmax(said / temperature, dim=1), wanted, reduction="batchmean")
    loss = 0.7 * soft * temperature**2 + 0.3 * F.cross_entropy(said, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
