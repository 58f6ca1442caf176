"""A branch that passes through a Python number: its weight never gets a gradient.

`.item()` takes the value out of the graph, and everything before it is a constant from then on.
"""

import torch

gain = torch.tensor(2.0, requires_grad=True)
weight = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.tensor([3.0, 4.0])

scale = (gain * 0.5).item()  # wanted: gain * 0.5
loss = (weight * x * scale).sum()
loss.backward()

print("gain.grad =", gain.grad)
