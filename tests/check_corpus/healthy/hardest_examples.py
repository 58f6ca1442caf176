import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(90)
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(128, 5)
y = x[:, :3].argmax(dim=1)
history = []
for step in range(40):
    each = F.cross_entropy(model(x), y, reduction="none")
    hardest, _ = torch.topk(each, 40)
    loss = hardest.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
