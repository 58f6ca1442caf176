import torch
import torch.nn as nn

torch.manual_seed(20)
x = torch.linspace(-2, 2, 50).unsqueeze(1)
y = 3 * x - 1

model = nn.Linear(1, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = []

for epoch in range(50):
    y_pred = model(x)
    loss = criterion(y_pred, y)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    history.append(loss.item())

print(f"start {history[0]:.3f}, end {history[-1]:.3f}")
