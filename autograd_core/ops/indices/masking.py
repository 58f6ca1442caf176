"""Elements picked, filled and written by a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.dtype import from_numpy_dtype
from autograd_core.op import op, pointwise
from autograd_core.op.refusals import no_common_shape
from autograd_core.ops.checks import fitting_number
from autograd_core.ops.pointwise.elementwise import where
from autograd_core.ops.reductions.reduce import numel
from autograd_core.ops.shaping.rearrange import constant_pad_nd
from autograd_core.ops.shaping.shape import reshape


@pointwise(
    keeps="mask",
    node="MaskedFillBackward0",
    self=lambda g, mask: where(mask, 0, g),
    layout="contiguous",
)
def masked_fill(self, mask, *, value):
    """Return ``self`` with the number ``value`` where ``mask`` holds."""
    return np.where(_truth(mask), fitting_number(value, self.dtype), self)


@op(
    of="masked_fill",
    node="MaskedFillBackward1",
    self=lambda g, mask: where(mask, 0, g),
    value=lambda g, mask: where(mask, g, 0),
    linear=True,
    broadcasts="self value",
    layout="contiguous",
)
def masked_fill_tensor(self, mask, value, /):
    """Return ``self`` with the value of a one-element tensor where ``mask`` holds."""
    if value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    mask, self = _both(_truth(mask), self)
    return np.where(mask, fitting_number(value.item(), self.dtype), self)


def _truth(mask: Any) -> Any:
    if mask.dtype != np.bool_:
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{from_numpy_dtype(mask.dtype).c_name}"
        )
    return mask


def _both(mask: Any, x: Any) -> Any:
    """Return both in their common shape."""
    try:
        return np.broadcast_arrays(mask, x)
    except ValueError:
        raise no_common_shape([mask.shape, x.shape]) from None


@op(
    self=lambda g, mask, self_shape: place(g, mask, self_shape),
    linear=True,
    broadcasts="self",
    variants="function method",
    out="expect",
)
def masked_select(self, mask, /):
    """Return the elements of ``self`` where ``mask`` holds, as a vector; both broadcast."""
    if mask.dtype != np.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    mask, self = _both(mask, self)
    return self[mask]


@op(self=lambda g, mask: masked_select(g, mask), linear=True)
def place(self, mask, /, shape):
    """Return zeros as ``mask`` and ``shape`` broadcast, with ``self`` where the mask holds."""
    result = np.zeros(np.broadcast_shapes(mask.shape, shape), self.dtype)
    result[np.broadcast_to(mask, result.shape)] = self
    return result


@op(
    self=lambda g, mask: where(mask, 0, g),
    source=lambda g, mask, source_shape: _first(g, mask, source_shape),
    linear=True,
    broadcasts="self",
    layout="contiguous",
    variants="function method inplace",
)
def masked_scatter(self, mask, source, /):
    """Return ``self`` with the elements of ``source``, in order, where ``mask`` holds."""
    if mask.dtype != np.bool_:
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{from_numpy_dtype(mask.dtype).scalar_name}"
        )
    if self.dtype != source.dtype:
        kinds = (from_numpy_dtype(operand.dtype).scalar_name for operand in (self, source))
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"  # and no blank
            + " and ".join(kinds)
        )
    mask, self = _both(mask, self)
    number = np.count_nonzero(mask)
    if number > source.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    result = np.array(self)
    result[mask] = source.reshape(-1)[:number]
    return result


def _first(g: Any, mask: Any, shape: tuple[int, ...]) -> Any:
    """Return the gradient of the elements that were used; 0 for those left over."""
    used = masked_select(g, mask)
    return reshape(constant_pad_nd(used, (0, numel(shape) - used.shape[0])), shape)
