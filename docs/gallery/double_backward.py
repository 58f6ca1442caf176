"""A penalty on a gradient: the slope of ``y`` is made a part of the loss.

With ``create_graph=True`` the first backward pass leaves a graph of its own, through which the
second one runs.
"""

import autograd_core as torch

x = torch.tensor(2.0, requires_grad=True)
y = x**3
(slope,) = torch.autograd.grad(y, x, create_graph=True)
loss = (slope - 1) ** 2
