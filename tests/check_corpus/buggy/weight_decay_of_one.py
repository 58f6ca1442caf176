import torch
import torch.nn as nn

torch.manual_seed(105)
x = torch.randn(40, 6)
y = x[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, weight_decay=1.0)
for epoch in range(40):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print(loss.item())
