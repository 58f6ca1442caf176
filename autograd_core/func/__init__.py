"""Functions that take functions, under the names of ``torch.func``."""

from autograd_core.func.functional_call import functional_call
from autograd_core.func.gradients import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp
from autograd_core.func.mapping import vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "vjp",
    "vmap",
]
