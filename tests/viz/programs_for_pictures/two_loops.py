"""Two loops, one after the other; the first step's sum has no gradient."""

import torch

torch.manual_seed(0)

w = torch.ones(2, requires_grad=True)
x = torch.zeros(2)
for i in range(5):
    x = torch.tanh((x + 1) * w)
y = x
for j in range(4):
    y = torch.sin(y) * w
y.sum().backward()
