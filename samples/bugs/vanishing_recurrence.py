"""Forty time steps, each of which makes the gradient smaller: the early inputs never learn.

The loss depends on the first input through forty tanh; each multiplies the gradient by less
than a half, so that what arrives at the first input is 0 for all practical purposes.
"""

import torch

torch.manual_seed(0)
first_input = torch.randn(2, 8, requires_grad=True)
weight = torch.eye(8) * 0.5
state = first_input
for _ in range(40):
    state = (state @ weight).tanh()
loss = state.sum()
loss.backward()

print(f"largest element of first_input.grad: {first_input.grad.abs().max().item():.0e}")
