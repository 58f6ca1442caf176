"""A gradient penalty: the slope of ``y`` is part of the loss.

With ``create_graph=True``, the first backward pass builds a graph of its own. The second backward
pass runs through that graph.
"""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = x**3
(slope,) = torch.autograd.grad(y, x, create_graph=True)
loss = (slope - 1) ** 2
