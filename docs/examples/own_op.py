import numpy as np

import autograd_core as torch
from autograd_core.op import pointwise
from autograd_core.ops.pointwise.elementwise import tanh
from gradstep import check, trace


@pointwise(
    self=lambda g, self, scale: g * tanh(scale * self),
    result_dtype="float",
    variants="function method",
)
def log_cosh(self, *, scale=1.0):
    """The logarithm of the hyperbolic cosine of ``scale * self``, divided by ``scale``."""
    size = np.abs(scale * self)
    return (size + np.log1p(np.exp(-2 * size)) - np.log(2).astype(self.dtype)) / scale


with trace(values=True):
    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    y = log_cosh(x, scale=0.5).sum()

print(y.grad_fn.next_functions[0][0].name())
for result in check(y).derivatives:
    print(result.address, result.verdict)
