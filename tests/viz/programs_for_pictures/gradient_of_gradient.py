"""A gradient, and the gradient of its square."""

import torch
from torch import nn

torch.manual_seed(0)

lin = nn.Linear(3, 3)
x = torch.randn(2, 3, requires_grad=True)
y = torch.tanh(lin(x))
(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
g.pow(2).sum().backward()
