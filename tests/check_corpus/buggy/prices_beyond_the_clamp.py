import torch
import torch.nn as nn

torch.manual_seed(103)
rooms = torch.randn(32, 5)
prices = rooms.sum(1, keepdim=True) + 20
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for epoch in range(10):
    predicted = model(rooms).clamp(0, 1)
    loss = nn.functional.mse_loss(predicted, prices)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
