"""A tensor that was changed in place after an op had saved it: backward() raises.

exp keeps its result for the backward pass, and the line after it overwrites that.
"""

import autograd_core as torch

x = torch.tensor([0.0, 1.0], requires_grad=True)
y = x.exp()
z = y * 2.0
y += 1.0  # exp needs the old value
loss = (z + y).sum()
try:
    loss.backward()
except RuntimeError as error:
    print("RuntimeError:", str(error).split(":")[0])
