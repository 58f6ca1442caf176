import torch
import torch.nn as nn

torch.manual_seed(75)
x = torch.linspace(0, 1, 40).unsqueeze(1)
y = torch.sin(6 * x)
model = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
    optimizer, mode="max", factor=0.1, patience=2
)
for epoch in range(60):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    scheduler.step(loss.item())
print(loss.item(), optimizer.param_groups[0]["lr"])
