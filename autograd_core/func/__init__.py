"""Function transforms, under the names of ``torch.func``."""

from autograd_core.fallback import answer_missing_names
from autograd_core.func.functional_call import functional_call, stack_module_state
from autograd_core.func.gradients import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)
from autograd_core.func.mapping import vmap

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "stack_module_state", "vjp", "vmap",
]  # fmt: skip

answer_missing_names(__name__)
