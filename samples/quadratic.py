"""Q = 3a³ − b² at a = 2, b = 6: the smallest graph with something to see in it.

By hand: ∂Q/∂a = 9a² = 36 and ∂Q/∂b = −2b = −12.
"""

import autograd_core as torch

a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(6.0, requires_grad=True)

O = 3 * a**3
P = b**2
Q = O - P

Q.backward()

print(f"dQ/da = {a.grad.item():g}")
print(f"dQ/db = {b.grad.item():g}")

inputs = " and ".join(node.name() for node, _ in Q.grad_fn.next_functions)
print(f"Q.grad_fn is {Q.grad_fn.name()}, which hands gradients on to {inputs}")
