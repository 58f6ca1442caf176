"""How high a ball is that was thrown straight up: speed · time − 5 · time².

``time`` is used twice, so two gradients meet at it. Their sum, speed − 10 · time = 10, is how fast
the ball still rises.
"""

import autograd_core as torch

speed = torch.tensor(30.0, requires_grad=True)
time = torch.tensor(2.0, requires_grad=True)

height = speed * time - 5 * time**2
