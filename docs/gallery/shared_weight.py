"""One weight, used at each of four time steps: state ← weight · state + input.

Its gradient is the sum of four contributions, starting with the last use: 5 + 6 + 4 + 8 = 23.
"""

import torch

weight = torch.tensor(2.0, requires_grad=True)
state = torch.tensor(1.0)

for x in [-1.0, 1.0, -1.0, 2.0]:
    state = weight * state + x
