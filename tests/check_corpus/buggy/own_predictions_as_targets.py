import torch
import torch.nn as nn

torch.manual_seed(112)
x = torch.randn(48, 6)
labels = x[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(30):
    out = model(x)
    predicted = out.argmax(dim=1)
    loss = nn.functional.cross_entropy(out, predicted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
right = (model(x).argmax(1) == labels).float().mean().item()
print(loss.item(), right)
