"""Elements picked, filled and written by a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.dtype import from_numpy_dtype
from autograd_core.op import Sample, op, pointwise
from autograd_core.op.refusals import no_common_shape
from autograd_core.ops.checks import fitting_number
from autograd_core.ops.elementwise import where
from autograd_core.ops.rearrange import constant_pad_nd
from autograd_core.ops.reduce import count
from autograd_core.ops.shape import reshape

_MASK = np.array([[True, False, True], [False, True, True]])


@pointwise(
    keeps="mask",
    node="MaskedFillBackward0",
    x=lambda g, mask: where(mask, 0, g),
    samples=(Sample(((2, 3), _MASK), {"value": 0.5}), Sample(((3,), _MASK), {"value": 1})),
)
def masked_fill(x, mask, *, value):
    """``x`` with the number ``value`` where ``mask`` holds."""
    return np.where(_truth(mask), fitting_number(value, x.dtype), x)


@op(
    of="masked_fill",
    node="MaskedFillBackward1",
    x=lambda g, mask: where(mask, 0, g),
    value=lambda g, mask: where(mask, g, 0),
    linear=True,
    broadcasts="x value",
    samples=(Sample(((2, 3), _MASK, ())), Sample(((3,), _MASK, ()))),
)
def masked_fill_tensor(x, mask, value, /):
    """``x`` with the one value of a tensor where ``mask`` holds."""
    if value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    mask, x = _both(_truth(mask), x)
    return np.where(mask, fitting_number(value.item(), x.dtype), x)


def _truth(mask: Any) -> Any:
    if mask.dtype != np.bool_:
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{from_numpy_dtype(mask.dtype).c_name}"
        )
    return mask


def _both(mask: Any, x: Any) -> Any:
    """Both in their common shape."""
    try:
        return np.broadcast_arrays(mask, x)
    except ValueError:
        raise no_common_shape([mask.shape, x.shape]) from None


@op(
    x=lambda g, mask, x_shape: place(g, mask, x_shape),
    linear=True,
    broadcasts="x",
    samples=(Sample(((2, 3), _MASK)), Sample(((3,), _MASK)), Sample(((2, 3), _MASK[0]))),
)
def masked_select(x, mask, /):
    """The elements of ``x`` where ``mask`` holds, as a vector; both broadcast."""
    if mask.dtype != np.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    mask, x = _both(mask, x)
    return x[mask]


@op(
    x=lambda g, mask: masked_select(g, mask),
    linear=True,
    samples=(Sample(((4,), _MASK), {"shape": (2, 3)}),),
)
def place(x, mask, /, shape):
    """Zeros, as ``mask`` and ``shape`` broadcast, with the elements of ``x`` where it holds."""
    result = np.zeros(np.broadcast_shapes(mask.shape, shape), x.dtype)
    result[np.broadcast_to(mask, result.shape)] = x
    return result


@op(
    x=lambda g, mask: where(mask, 0, g),
    source=lambda g, mask, source_shape: _first(g, mask, source_shape),
    linear=True,
    broadcasts="x",
    samples=(Sample(((2, 3), (5,), _MASK)), Sample(((3,), (2, 2), _MASK))),
)
def masked_scatter(x, source, mask, /):
    """``x`` with the elements of ``source``, in order, where ``mask`` holds."""
    if mask.dtype != np.bool_:
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{from_numpy_dtype(mask.dtype).scalar_name}"
        )
    if x.dtype != source.dtype:
        kinds = (from_numpy_dtype(each.dtype).scalar_name for each in (x, source))
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"  # and no blank
            + " and ".join(kinds)
        )
    mask, x = _both(mask, x)
    number = np.count_nonzero(mask)
    if number > source.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    result = np.array(x)
    result[mask] = source.reshape(-1)[:number]
    return result


def _first(g: Any, mask: Any, shape: tuple[int, ...]) -> Any:
    """The gradient of the elements that were used; 0 for those left over."""
    used = masked_select(g, mask)
    return reshape(constant_pad_nd(used, (0, count(shape) - used.shape[0])), shape)
