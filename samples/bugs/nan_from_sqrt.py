"""The distance of two equal points: a finite loss, and nan in every gradient.

The slope of the square root at 0 is infinite, and that of the square before it is 0; their
product is nan. It shows up far from there, in the weights of the first layer.
"""

import torch

torch.manual_seed(0)
weight = torch.randn(3, 4, requires_grad=True)
first = torch.randn(5, 4)
second = first.clone()
second[1:] += 1.0  # the first pair are the same point twice

distance = ((first @ weight.t() - second @ weight.t()) ** 2).sum(dim=1).sqrt()
loss = distance.mean()
loss.backward()

print(f"loss = {loss.item():.4f}")
print(f"elements of weight.grad that are nan: {int(weight.grad.isnan().sum())} of 12")
