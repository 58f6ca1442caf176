import torch
import torch.nn as nn

torch.manual_seed(71)
hyper = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 3 * 8 + 8))
optimizer = torch.optim.Adam(hyper.parameters(), lr=0.01)
history = []
for step in range(50):
    task = torch.rand(16, 2)
    x = torch.rand(16, 10, 1) * 2 - 1
    y = task[:, :1].unsqueeze(1) * x + task[:, 1:].unsqueeze(1)
    weights = hyper(task)
    w1, b1 = weights[:, :8].view(16, 1, 8), weights[:, 8:16].view(16, 1, 8)
    w2, b2 = weights[:, 16:24].view(16, 8, 1), weights[:, 24:].view(16, 8).mean(1).view(16, 1, 1)
    loss = (torch.tanh(x @ w1 + b1) @ w2 + b2 - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
