"""The side of a square that has the area of a rectangle: √(width · height).

Of a rectangle of 2 by 8 it is 4. A narrow side matters more than a long one: by hand,
∂side/∂width = height / (2 · side) = 1, and ∂side/∂height = width / (2 · side) = 0.25.
"""

import autograd_core as torch


def side_of_square(width, height):
    return torch.sqrt(width * height)


width = torch.tensor(2.0, requires_grad=True)
height = torch.tensor(8.0, requires_grad=True)

side = side_of_square(width, height)
side.backward()

print(f"side = {side.item():g}")
print(f"d side / d width = {width.grad.item():g}")
print(f"d side / d height = {height.grad.item():g}")
