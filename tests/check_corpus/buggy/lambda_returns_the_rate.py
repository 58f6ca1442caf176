import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR

RATE = 1e-4


def schedule(step):
    return RATE * min(1.0, (step + 1) / 5)


torch.manual_seed(108)
x = torch.randn(32, 6)
y = x.sum(1, keepdim=True).tanh()
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
scheduler = LambdaLR(optimizer, lr_lambda=schedule)
for epoch in range(12):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    scheduler.step()
rate = scheduler.get_last_lr()[0]
print(loss.item(), rate)
