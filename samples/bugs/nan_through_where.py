"""A mask that hides the bad values, but not their gradients.

`where` takes log(x) only where x is positive, so the loss is finite. Backward, it sends a
gradient of 0 into the branch that was not taken; the logarithm divides it by x, and 0 / 0 is nan.
The remedy is to mask the argument: log(where(x > 0, x, 1)).
"""

import torch

x = torch.tensor([0.5, 0.0, 2.0], requires_grad=True)
loss = torch.where(x > 0, torch.log(x), torch.zeros(3)).sum()
loss.backward()

print(f"loss = {loss.item():.4f}")
print("x.grad =", x.grad)
