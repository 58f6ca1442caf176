import torch
import torch.nn as nn

torch.manual_seed(61)
layers = []
for _ in range(12):
    layers += [nn.Linear(16, 16), nn.Sigmoid()]
model = nn.Sequential(*layers, nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

x = torch.randn(64, 16)
y = (x[:, :8].sum(dim=1) > 0).long()
for epoch in range(40):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print(loss.item(), model[0].weight.grad.norm().item())
