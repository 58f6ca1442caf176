"""Attention in which one token may look at nothing: its row of the softmax is nan.

All scores of that row are masked with -inf, and the softmax of nothing but -inf is 0 / 0. The loss
is nan, and so are gradients. The node of the backward pass that shows it first is not where it
began.
"""

import autograd_core as torch

torch.manual_seed(0)
tokens = torch.randn(3, 4)
query = torch.randn(4, 4, requires_grad=True)
value = torch.randn(4, 4, requires_grad=True)
padding = torch.tensor([[False, True, True], [True, True, True], [False, False, True]])

scores = ((tokens @ query) @ tokens.t()).masked_fill(padding, float("-inf"))
weights = torch.softmax(scores, dim=1)
loss = ((weights @ (tokens @ value)) ** 2).mean()
loss.backward()

print(f"loss = {loss.item():.4f}")
print(f"elements of value.grad that are nan: {int(value.grad.isnan().sum())} of 16")
