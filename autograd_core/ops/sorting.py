"""Order: sorting, searching, counting."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import Sample, op
from autograd_core.ops.scatter import scatter_zeros
from autograd_core.tensor.dimensions import wrapped

_MATRIX = [[1.0, 4.0, 2.5], [3.0, 0.5, -2.0]]
_ORDERS = (Sample((_MATRIX,)), Sample((_MATRIX,), {"dim": 0, "descending": True}))


def _order(x: Any, dim: int, descending: bool) -> Any:
    """The places in order; equals stay as they are, NaN is largest."""
    if not x.ndim:
        wrapped(dim, 0)
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(x, dim, stable=True)
    flipped = np.argsort(np.flip(x, dim), dim, stable=True)
    return x.shape[dim] - 1 - np.flip(flipped, dim)


def _sorted(x: Any, dim: int, descending: bool) -> tuple[Any, Any]:
    places = _order(x, dim, descending)
    return (np.take_along_axis(x, places, dim) if x.ndim else np.array(x)), places


@op(
    x=lambda g, indices, x_shape, dim: scatter_zeros(g, indices, x_shape, dim),
    outputs="values indices",
    nondiff="indices",
    samples=_ORDERS,
)
def sort(x, /, dim=-1, descending=False):
    """The elements in order along ``dim``, and where they were."""
    return _sorted(x, dim, descending)


@op(
    x=lambda g, indices, x_shape, dim: scatter_zeros(g, indices, x_shape, dim),
    outputs="values indices",
    nondiff="indices",
    of="sort",
    node="SortBackward1",
    samples=_ORDERS,
)
def sort_stable(x, /, dim=-1, descending=False):
    """:func:`sort`, called with ``stable``: equals stay in the order they had."""
    return _sorted(x, dim, descending)


@op(variants="function method")
def argsort(x, /, dim=-1, descending=False, stable=False):
    """The places of the elements in order along ``dim``."""
    return _order(x, dim, descending)


@op(
    x=lambda g, indices, x_shape, dim: scatter_zeros(g, indices, x_shape, dim),
    outputs="values indices",
    nondiff="indices",
    samples=(Sample((_MATRIX,), {"k": 2}), Sample((_MATRIX,), {"k": 1, "dim": 0})),
)
def topk(x, /, k, dim=-1, largest=True, sorted=True):
    """The ``k`` largest, or smallest, elements along ``dim``, in order, and where they were."""
    if x.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    along = wrapped(dim, x.ndim)
    if not 0 <= k <= (x.shape[along] if x.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if not x.ndim:
        return np.array(x), np.zeros((), np.int64)
    places = np.take(_order(x, dim, largest), np.arange(k), dim)
    return np.take_along_axis(x, places, dim), places


@op()
def searchsorted(sequence, values, /, right=False):
    """Where ``values`` would be inserted into the last dimension of a sorted ``sequence``."""
    side: Any = "right" if right else "left"
    if not sequence.ndim:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
            "dimension"
        )
    if sequence.ndim == 1:
        return np.searchsorted(sequence, values, side)
    if values.ndim and sequence.shape[:-1] != values.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(sequence.shape)} and input value tensor {list(values.shape)}"
        )
    if not values.ndim:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({sequence.ndim}) and input value's "
            f"dim(0) numel(1)"
        )
    result = np.empty(values.shape, np.int64)
    for place in np.ndindex(sequence.shape[:-1]):
        result[place] = np.searchsorted(sequence[place], values[place], side)
    return result


@op(variants="function method")
def bincount(x, weights=None, /, minlength=0):
    """How often each number from 0 on occurs, or the sum of its ``weights``."""
    if x.ndim != 1 or x.dtype.kind not in "iu" or (x.size and x.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if x.size and weights is not None and weights.shape != x.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    return np.bincount(x, weights, minlength)


@op()
def nonzero(x, /):
    """The places of all elements that are not 0, one row each."""
    return np.argwhere(x)
