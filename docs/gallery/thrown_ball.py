"""The height of a ball thrown straight up: speed · time − 5 · time².

``time`` is used twice, so its gradient is the sum of two contributions. That sum,
speed − 10 · time = 10, is the current speed of the ball.
"""

import torch

speed = torch.tensor(30.0, requires_grad=True)
time = torch.tensor(2.0, requires_grad=True)

height = speed * time - 5 * time**2
