"""The side of a square that has the area of a rectangle.

The square root saves its own result, the multiplication both factors: what their derivatives need.
"""

import autograd_core as torch

width = torch.tensor(2.0, requires_grad=True)
height = torch.tensor(8.0, requires_grad=True)

side = torch.sqrt(width * height)
