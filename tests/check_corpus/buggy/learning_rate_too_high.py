import torch
import torch.nn as nn

torch.manual_seed(58)
area = torch.rand(50, 1) * 100 + 50  # square metres
price = 3.2 * area + 20

model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(40):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(area), price)
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
