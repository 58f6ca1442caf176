"""Derivatives of functions, under the names of ``torch.autograd.functional``.

``func`` takes tensors and returns a tensor or a tuple of tensors.  Products with a vector
cost one or two backward passes; ``jacobian`` and ``hessian`` make one pass per row.
"""

from autograd_core.autograd.functional.jacobians import hessian, jacobian
from autograd_core.autograd.functional.products import hvp, jvp, vhp, vjp
from autograd_core.fallback import answer_missing_names

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

answer_missing_names(__name__)
