"""Q = 3a³ − b² at a = 2, b = 6. By hand, ∂Q/∂a = 9a² = 36 and ∂Q/∂b = −2b = −12."""

import autograd_core as torch

a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(6.0, requires_grad=True)

Q = 3 * a**3 - b**2
