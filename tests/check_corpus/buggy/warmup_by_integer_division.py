import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

torch.manual_seed(74)
model = nn.Sequential(nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
warmup_steps = 200
scheduler = LambdaLR(optimizer, lambda step: min(1, step // warmup_steps))

history = []
for step in range(120):
    x = torch.randn(16, 4)
    loss = (model(x) - x.sum(dim=1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    history.append(loss.item())
print(history[0], history[-1], scheduler.get_last_lr())
