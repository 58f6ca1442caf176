"""Linear algebra, under the names of ``torch.linalg``; built from the names that functions declare.

Type checkers read ``__init__.pyi``, which is generated (:mod:`autograd_core.op.stub`).
"""

from autograd_core.fallback import answer_missing_names
from autograd_core.linalg import (  # noqa: F401  for what they declare
    aliases,
    factorizations,
    products,
    systems,
)
from autograd_core.op.public import NAMESPACES
from autograd_core.ops.algebra import reflectors  # noqa: F401  also for what it declares
from autograd_core.ops.checks import LinAlgError

globals().update(NAMESPACES["linalg"])

__all__ = ["LinAlgError", *sorted(NAMESPACES["linalg"])]

answer_missing_names(__name__)
