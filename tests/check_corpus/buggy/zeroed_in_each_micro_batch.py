import torch
import torch.nn as nn

torch.manual_seed(110)
x = torch.randn(64, 6)
y = x[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
accumulate = 4
for epoch in range(3):
    for step in range(8):
        batch = slice(8 * step, 8 * step + 8)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[batch]), y[batch]) / accumulate
        loss.backward()
        if (step + 1) % accumulate == 0:
            optimizer.step()
print(loss.item())
