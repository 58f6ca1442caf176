"""One weight, used at each of four time steps: state ← weight · state + input.

Unrolled, the last state is a polynomial in the weight: w⁴ − w³ + w² − w + 2.
Its derivative at w = 2 is 4w³ − 3w² + 2w − 1 = 23. Backpropagation finds it as a sum of one
contribution per use, last use first: 5 + 6 + 4 + 8.
"""

import autograd_core as torch

weight = torch.tensor(2.0, requires_grad=True)
state = torch.tensor(1.0)

for x in [-1.0, 1.0, -1.0, 2.0]:
    state = weight * state + x

state.backward()

print(f"last state = {state.item():g}")
print(f"d state / d weight = {weight.grad.item():g}")
