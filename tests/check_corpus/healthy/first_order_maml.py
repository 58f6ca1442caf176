# the inner gradients are constants on purpose
import torch
from torch import nn

torch.manual_seed(21)
w = nn.Parameter(torch.zeros(3, 1))
optimizer = torch.optim.SGD([w], lr=0.1)
history = []
for it in range(30):
    task = torch.ones(3, 1) + 0.2 * torch.randn(3, 1)
    x, x2 = torch.randn(16, 3), torch.randn(16, 3)
    (g,) = torch.autograd.grad(((x @ w - x @ task) ** 2).mean(), [w])
    loss = ((x2 @ (w - 0.1 * g) - x2 @ task) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
