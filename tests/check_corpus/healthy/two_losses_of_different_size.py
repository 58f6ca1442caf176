import torch
from torch import nn

torch.manual_seed(18)
body = nn.Sequential(nn.Linear(5, 16), nn.ReLU())
price, share = nn.Linear(16, 3), nn.Linear(16, 3)
modules = nn.ModuleList([body, price, share])
optimizer = torch.optim.Adam(modules.parameters(), lr=0.02)
x = torch.randn(64, 5)
shares = torch.softmax(x[:, :3], 1)
prices = 1e4 * (2 + shares)
history = []
for step in range(60):
    h = body(x)
    first = (1e4 * price(h) - prices).pow(2).mean()  # in cents
    second = nn.functional.cross_entropy(share(h), shares)
    loss = first + second
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
