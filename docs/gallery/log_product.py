"""f(x, y) = log(x · y), whose gradient is (1/x, 1/y): each input moves f as if it stood alone."""

import autograd_core as torch

x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(5.0, requires_grad=True)

z = torch.log(x * y)
