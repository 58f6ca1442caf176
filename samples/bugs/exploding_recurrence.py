"""Forty time steps, each of which makes the gradient a little larger: exploding gradients.

The state is multiplied by a matrix whose largest singular value is above 1. One step is
harmless; forty make it 36,000 times larger.
"""

import torch

torch.manual_seed(0)
weight = (torch.eye(8) * 1.3).requires_grad_()
state = torch.randn(2, 8)
for _ in range(40):
    state = state @ weight + 0.01 * torch.randn(2, 8)
loss = state.sum()
loss.backward()

print(f"largest element of weight.grad: {weight.grad.abs().max().item():.0e}")
