import torch
import torch.nn as nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(84)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 4)
y = x[:, :1] - x[:, 1:2]
history, noise = [], []


def loss_of(parameters, x, y):
    return (functional_call(model, parameters, (x,)) - y).pow(2).mean()


for step in range(30):
    loss = loss_of(dict(model.named_parameters()), x, y)
    optimizer.zero_grad()
    loss.backward()
    if step % 10 == 0:  # how different the gradients of single samples are
        parameters = {name: p.detach() for name, p in model.named_parameters()}
        each = vmap(grad(loss_of), (None, 0, 0))(parameters, x, y)
        noise.append(sum(g.var(dim=0).sum().item() for g in each.values()))
    optimizer.step()
    history.append(loss.item())
