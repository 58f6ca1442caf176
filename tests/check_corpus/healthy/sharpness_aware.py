import torch
import torch.nn as nn

torch.manual_seed(43)
model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
x = torch.randn(64, 5)
y = (x[:, 0] * x[:, 1] > 0).long()
history = []
for epoch in range(40):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    with torch.no_grad():  # up to the worst place nearby
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
        steps = [0.05 * p.grad / norm for p in model.parameters()]
        for p, step in zip(model.parameters(), steps):
            p.add_(step)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    with torch.no_grad():
        for p, step in zip(model.parameters(), steps):
            p.sub_(step)
    optimizer.step()
    optimizer.zero_grad()
    history.append(loss.item())
