"""One multiplication and one addition: the smallest graph that has two kinds of nodes.

The gradient of a sum goes on to both sides unchanged; that of a product is multiplied by the
other factor, which is why ``a`` and ``b`` are saved.
"""

import autograd_core as torch

a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
c = torch.tensor(4.0, requires_grad=True)

y = a * b + c
