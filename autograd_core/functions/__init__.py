"""The functions of ``torch``, built from what entries and functions say they are called.

Type checkers read ``__init__.pyi``, which is generated (:mod:`autograd_core.op.stub`).
"""

from typing import Any

from autograd_core.functions import (  # noqa: F401  for what they declare
    along,
    arithmetic,
    counting,
    creation,
    indexing,
    joining,
    products,
    random,
    rearranging,
    reduction,
    shapes,
    view_copies,
    windows,
)
from autograd_core.op.public import NAMESPACES
from autograd_core.ops import (  # noqa: F401  for the entries that users call as they are
    bessel,
    copies,
    logic,
    special_functions,
    trigonometry,
)
from autograd_core.ops import products as matrix_products  # noqa: F401

globals().update(NAMESPACES[""])

__all__ = sorted(NAMESPACES[""])


def __getattr__(name: str) -> Any:
    """Find what was declared later, by a program or by a part that few need."""
    try:
        return NAMESPACES[""][name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
