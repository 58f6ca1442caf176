"""What assignments compute: the out-of-place ops behind ``copy_``, ``fill_`` and ``x[i] = y``."""

from __future__ import annotations

import numpy as np

from autograd_core.op import Sample, op, pointwise
from autograd_core.ops.index import check_masks, index


@pointwise(np.zeros_like, linear=True, x=lambda g: zeros_of(g), samples=(Sample(((2, 3),)),))
def zeros_of(x):
    """Zeros in the place of ``x``; unlike ``x * 0``, also where it is infinite."""


@pointwise(
    node="torch::autograd::CopyBackwards",
    x=lambda g: zeros_of(g),
    y=lambda g: g,
    samples=(Sample(((2, 3), (2, 3))), Sample(((2, 3), (3,)))),
)
def copy(x, y):
    """``y``, broadcast over what was ``x``."""
    return np.array(np.broadcast_to(y, np.broadcast_shapes(np.shape(x), np.shape(y))))


@pointwise(x=lambda g: zeros_of(g), samples=(Sample(((2, 3),), {"value": 2.5}),))
def fill(x, *, value):
    """``value`` in every place of ``x``."""
    return np.full_like(x, value)


@pointwise(node="ZeroBackward0", of="zero", x=lambda g: zeros_of(g), samples=(Sample(((2,),)),))
def zero(x):
    """0 in every place of ``x``."""
    return np.zeros_like(x)


@op(
    x=lambda g, indices: assigned(g, zeros_of(index(g, indices)), indices),
    values=lambda g, indices: index(g, indices),
    broadcasts="values",
    node="IndexPutBackward0",
    of="index_put",
    samples=(Sample(((3, 2), (2,)), {"indices": (np.array([2, 0]),)}),),
)
def assigned(x, values, /, indices):
    """``x`` with ``values`` at ``indices``, as advanced indexing picks them."""
    result = np.array(x)
    try:
        result[indices] = values
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(np.shape(values))} cannot be broadcast "
            f"to indexing result of shape {list(x[indices].shape)}"
        ) from None
    except IndexError:
        check_masks(x.shape, indices)
        raise
    return result
