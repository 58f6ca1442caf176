"""One row of a matrix is changed in place, through a view.

The base gets a new node, ``CopySlices``. The gradient of the row passes through the
multiplication; the gradient of the other rows bypasses it.
"""

import torch

x = torch.ones(2, 3, requires_grad=True)
y = x * 2
y[0].mul_(5)
loss = y.sum()
