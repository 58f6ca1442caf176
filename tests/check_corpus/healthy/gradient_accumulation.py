import torch
import torch.nn as nn

torch.manual_seed(6)
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
accumulation_steps = 4
x = torch.randn(64, 5)
y = x[:, :1] - x[:, 1:2]
history = []

for epoch in range(15):
    optimizer.zero_grad()
    total = 0.0
    for i in range(16):
        xb, yb = x[4 * i : 4 * i + 4], y[4 * i : 4 * i + 4]
        loss = nn.functional.mse_loss(model(xb), yb) / accumulation_steps
        loss.backward()
        total += loss.item()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    history.append(total)
