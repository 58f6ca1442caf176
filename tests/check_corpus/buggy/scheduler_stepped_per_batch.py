import torch
import torch.nn as nn
from torch.optim.lr_scheduler import StepLR

torch.manual_seed(30)
dataset = [(x, (x.sum(dim=1, keepdim=True) > 0).float()) for x in torch.randn(20, 10, 6)]
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = StepLR(optimizer, step_size=10, gamma=0.1)  # every ten epochs
loss_fn = nn.BCEWithLogitsLoss()

for epoch in range(5):
    total = 0.0
    for batch, target in dataset:
        optimizer.zero_grad()
        loss = loss_fn(model(batch), target)
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item()
    print(epoch, total / len(dataset), optimizer.param_groups[0]["lr"])
