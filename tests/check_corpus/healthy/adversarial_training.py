import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(37)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(80, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
history = []
for epoch in range(25):
    delta = torch.zeros_like(x, requires_grad=True)
    F.cross_entropy(model(x + delta), y).backward()
    attacked = (x + 0.1 * delta.grad.sign()).detach()
    optimizer.zero_grad()  # what the attack left
    loss = F.cross_entropy(model(attacked), y)
    loss.backward()
    optimizer.step()
    history.append(loss.item())
