import torch
import torch.nn as nn

torch.manual_seed(107)
x = torch.randn(40, 6)
y = x[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
start = model[0].weight.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(12):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1e-6)
    optimizer.step()
print(loss.item())
