import torch
import torch.nn as nn
from torch.optim.swa_utils import AveragedModel

torch.manual_seed(24)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
averaged = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
x = torch.randn(64, 4)
y = x[:, :1] * x[:, 1:2]
history = []
for epoch in range(40):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if epoch >= 20:
        averaged.update_parameters(model)
    history.append(loss.item())
