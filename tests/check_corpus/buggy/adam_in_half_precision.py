import torch
import torch.nn as nn

torch.manual_seed(85)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)).half()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x = torch.randn(32, 8).half()
y = x[:, :1]

for step in range(12):
    loss = (model(x) - y).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
