"""A training loop without zero_grad: each step also repeats all the steps before it.

`backward()` adds to `.grad`, it does not replace it; so the second step is made of the
gradients of two passes, the third of three.
"""

import torch

weight = torch.tensor(1.0, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(3):
    loss = (weight * 3.0 - 6.0) ** 2
    loss.backward()
    optimizer.step()  # and no optimizer.zero_grad() anywhere

print(f"weight = {weight.item():g}, where 2 was to be learned")
