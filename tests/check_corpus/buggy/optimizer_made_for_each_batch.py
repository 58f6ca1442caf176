import torch
import torch.nn as nn


def train_on(model, x, y, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item(), optimizer


torch.manual_seed(109)
x = torch.randn(48, 6)
y = x[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
made = set()
kept = []
for epoch in range(4):
    for i in range(0, 48, 16):
        loss, optimizer = train_on(model, x[i : i + 16], y[i : i + 16], 0.05)
        kept.append(optimizer)
        made.add(id(optimizer))
print(loss)
