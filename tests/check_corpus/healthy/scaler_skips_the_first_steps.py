import torch
from torch import nn

torch.manual_seed(25)
x = torch.randn(64, 8) * 10
y = x @ torch.randn(8, 1)
model = nn.Linear(8, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
history = []
for step in range(40):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 50.0)
    scaler.step(optimizer)
    scaler.update()
    history.append(loss.item())
