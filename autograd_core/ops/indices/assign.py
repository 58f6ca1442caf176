"""What assignments compute: the out-of-place ops behind ``copy_``, ``fill_`` and ``x[i] = y``."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import op, pointwise
from autograd_core.ops.checks import fitting_number
from autograd_core.ops.indices.index import index, refused_indices
from autograd_core.ops.pointwise.elementwise import zeros_of


@pointwise(node="torch::autograd::CopyBackwards", self=lambda g: zeros_of(g), other=lambda g: g)
def copy(self, other):
    """Return ``other``, broadcast to the shape of ``self``."""
    return np.array(np.broadcast_to(other, np.broadcast_shapes(np.shape(self), np.shape(other))))


@pointwise(self=lambda g: zeros_of(g), inplace_node="FillBackward2", layout="preserved")
def fill(self, *, value):
    """Return ``self`` filled with ``value``."""
    return np.full_like(self, fitting_number(value, self.dtype))


@pointwise(node="ZeroBackward0", of="zero", self=lambda g: zeros_of(g))
def zero(self):
    """Return ``self`` filled with 0."""
    return np.zeros_like(self)


def misplaced(error: Exception, x: Any, values: Any, indices: tuple[Any, ...]) -> Exception:
    """Return what NumPy says of ``values`` that do not fit into the places that ``indices`` pick of
    ``x``, or of places that there are not; in PyTorch's words."""
    if isinstance(error, IndexError):
        return refused_indices(error, x.shape, indices)
    return RuntimeError(
        f"shape mismatch: value tensor of shape {list(np.shape(values))} cannot be broadcast "
        f"to indexing result of shape {list(x[indices].shape)}"
    )


@op(
    self=lambda g, indices: assigned(g, zeros_of(index(g, indices)), indices),
    values=lambda g, indices: index(g, indices),
    broadcasts="values",
    holds="indices",
    node="IndexPutBackward0",
    of="index_put",
)
def assigned(self, values, /, indices):
    """Return ``self`` with ``values`` at ``indices``, as in advanced indexing."""
    result = np.array(self)
    try:
        result[indices] = values
    except (ValueError, IndexError, TypeError) as error:
        raise misplaced(error, self, values, indices) from None
    return result
