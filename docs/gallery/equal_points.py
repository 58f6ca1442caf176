"""The mean distance of pairs of points, one of which is the same point twice.

The loss is finite. The derivative of a square root at 0 is infinite, and that of the square before
it is 0; their product is NaN. Trouble is red: follow it up to the node where it begins.
"""

import torch

first = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
second = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
distance = ((first - second) ** 2).sum(dim=1).sqrt().mean()
