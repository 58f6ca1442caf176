import torch
import torch.nn as nn


def l2(model):
    return sum((p**2).sum() for p in model.parameters())


torch.manual_seed(106)
x = torch.randn(40, 6)
y = x[:, :3].argmax(1)
lam = 1.0
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(40):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y) + lam * l2(model)
    loss.backward()
    optimizer.step()
print(loss.item())
