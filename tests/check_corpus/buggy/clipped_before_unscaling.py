import torch
from torch import nn

torch.manual_seed(4)
x = torch.randn(64, 8)
y = x @ torch.randn(8, 1)

model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=65536.0)
history = []

for step in range(40):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    history.append(loss.item())

print(f"{history[0]:.4f} -> {history[-1]:.4f}")
