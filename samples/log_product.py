"""f(x, y) = log(x · y), whose gradient is (1/x, 1/y): each input moves f as if it stood alone."""

import autograd_core as torch


def f(x, y):
    return torch.log(x * y)


x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(5.0, requires_grad=True)

z = f(x, y)
z.backward()

print(f"f(2, 5) = {z.item():.6f}")
print(f"df/dx = {x.grad.item():g}")
print(f"df/dy = {y.grad.item():g}")
