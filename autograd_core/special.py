"""Special functions, under the names of ``torch.special``, built from what entries and functions
say they are called.

Type checkers read ``special.pyi``, which is generated (:mod:`autograd_core.op.stub`).
"""

from autograd_core import functions  # noqa: F401  for what it declares
from autograd_core.fallback import answer_missing_names
from autograd_core.op.public import NAMESPACES

globals().update(NAMESPACES["special"])

__all__ = sorted(NAMESPACES["special"])

answer_missing_names(__name__)
