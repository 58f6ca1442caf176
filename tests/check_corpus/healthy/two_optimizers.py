# sparse rows by SGD, the rest by Adam
import torch
from torch import nn

torch.manual_seed(11)
users, items = nn.Embedding(20, 4), nn.Embedding(30, 4)
bias = nn.Parameter(torch.zeros(1))
slow = torch.optim.SGD([*users.parameters(), *items.parameters()], lr=2.0)
fast = torch.optim.Adam([bias], lr=0.05)
u, i = torch.randint(20, (200,)), torch.randint(30, (200,))
ratings = 3 + (u % 2 * 2 - 1) * (i % 2 * 2 - 1).float()
history = []
for epoch in range(60):
    predicted = (users(u) * items(i)).sum(dim=1) + bias
    loss = (predicted - ratings).pow(2).mean()
    for optimizer in (slow, fast):
        optimizer.zero_grad()
    loss.backward()
    for optimizer in (slow, fast):
        optimizer.step()
    history.append(loss.item())
