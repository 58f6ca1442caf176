import torch
from torch import nn

torch.manual_seed(62)
hidden_size, steps = 16, 25
W = nn.Parameter(torch.randn(hidden_size, hidden_size))
U = nn.Parameter(torch.randn(1, hidden_size) * 0.1)
out = nn.Linear(hidden_size, 1)
optimizer = torch.optim.SGD([W, U, *out.parameters()], lr=0.01)

for it in range(10):
    x = torch.randn(steps, 8, 1)
    h = torch.zeros(8, hidden_size)
    for t in range(steps):
        h = h @ W + x[t] @ U
    loss = (out(h) - x.sum(dim=0)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(it, loss.item())
