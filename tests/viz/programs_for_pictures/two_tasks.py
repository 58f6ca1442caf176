"""Gradient steps inside of tasks: a loop in a loop."""

import torch

torch.manual_seed(0)

w = torch.randn(1, requires_grad=True)
total = 0
for task in range(3):
    fast = w
    for step in range(2):
        inner = (fast * (task + 1.0) - 2).pow(2).sum()
        (g,) = torch.autograd.grad(inner, fast, create_graph=True)
        fast = fast - 0.01 * g
    total = total + (fast * (task + 2.0) - 1).pow(2).sum()
total.backward()
