"""The functions of ``torch``, built from what entries and functions say they are called.

Type checkers read ``functions.pyi``, which is generated (:mod:`autograd_core.op.stub`).
"""

# ruff: noqa: F401  the families are imported for what they declare

from typing import Any

from autograd_core.op.public import NAMESPACES
from autograd_core.ops.algebra import contractions, products
from autograd_core.ops.creation import creation, random
from autograd_core.ops.indices import index_functions
from autograd_core.ops.pointwise import arithmetic, logic, special_functions, trigonometry
from autograd_core.ops.reductions import dimwise, reduce_functions, softmax
from autograd_core.ops.shaping import copies, shape_functions, stacking, view_copies

globals().update(NAMESPACES[""])

__all__ = sorted(NAMESPACES[""])


def __getattr__(name: str) -> Any:
    """Find what was declared later, by a program or by a part that few need."""
    try:
        return NAMESPACES[""][name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
