"""One multiplication and one addition: the smallest graph with two kinds of nodes.

An addition passes the gradient to both inputs unchanged. A multiplication multiplies it by the
other factor, which is why ``a`` and ``b`` are saved.
"""

import torch

a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
c = torch.tensor(4.0, requires_grad=True)

y = a * b + c
