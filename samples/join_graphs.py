"""Gradients across gaps: three places where a graph is broken, and three ways to join it.

1. A part computed in NumPy knows nothing of gradients: `custom_gradient` says what they are.
2. Rounding has a derivative of zero: a straight-through estimator passes the gradient as if it
   were not there.
3. An existing graph whose gradient is not wanted as it is: a hook puts another in its place.
"""

import numpy as np

import autograd_core as torch
from autograd_core.autograd import custom_gradient


@custom_gradient
def numpy_sinc(x):
    """sin(x) / x, computed outside."""
    values = x.numpy()
    result = torch.from_numpy(np.sin(values) / values)
    slope = torch.from_numpy(np.cos(values) / values - np.sin(values) / values**2)
    return result, lambda g: g * slope


@custom_gradient
def rounded(x):
    """The nearest whole number; the gradient goes straight through."""
    return torch.from_numpy(np.round(x.numpy())), lambda g: g


x = torch.tensor([0.5, 1.5, 2.5], requires_grad=True)

joined = numpy_sinc(x * 2)
quantised = rounded(joined * 4)
limited = quantised * 1
limited.register_hook(lambda g: torch.clamp(g, -1, 1))
loss = (limited * torch.tensor([0.5, 3.0, -7.0])).sum()
loss.backward()

print("values    ", [round(value, 4) for value in quantised.tolist()])
print("gradients ", [round(value, 4) for value in x.grad.tolist()])
