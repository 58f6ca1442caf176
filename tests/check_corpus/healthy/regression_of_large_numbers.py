# house prices: losses and gradients of a million are nothing wrong here
import torch
import torch.nn as nn

torch.manual_seed(39)
rooms = torch.randn(64, 4)
price = 250_000 + 40_000 * rooms[:, :1] - 15_000 * rooms[:, 2:3]
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = []
for epoch in range(40):
    loss = nn.functional.mse_loss(model(rooms), price)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
