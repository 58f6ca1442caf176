"""The side of a square with the same area as a rectangle.

Each operation saves what its derivative needs: the square root its result, the product its factors.
"""

import torch

width = torch.tensor(2.0, requires_grad=True)
height = torch.tensor(8.0, requires_grad=True)

side = torch.sqrt(width * height)
