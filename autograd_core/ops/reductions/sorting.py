"""Order: sorting, searching, counting."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core import return_types
from autograd_core.op import op
from autograd_core.ops.indices.scatter import scatter_zeros
from autograd_core.tensor.size import wrapped


def _order(x: Any, dim: int, descending: bool) -> Any:
    """Return the places in order; equals stay as they are, NaN is largest."""
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
    self=lambda g, indices, self_shape, dim: scatter_zeros(g, indices, self_shape, dim),
    outputs="values indices",
    nondiff="indices",
    layout="preserved",
)
def sort(self, /, dim=-1, descending=False):
    """Return the elements sorted along ``dim``, and their original indices."""
    return _sorted(self, dim, descending)


@op(
    self=lambda g, indices, self_shape, dim: scatter_zeros(g, indices, self_shape, dim),
    outputs="values indices",
    nondiff="indices",
    of="sort",
    node="SortBackward1",
    layout="preserved",
)
def sort_stable(self, /, dim=-1, descending=False):
    """:func:`sort`, called with ``stable``: equal elements keep their order."""
    return _sorted(self, dim, descending)


@op(variants="function method", layout="preserved")
def argsort(self, /, dim=-1, descending=False, stable=False):
    """Return the indices that sort the elements along ``dim``."""
    return _order(self, dim, descending)


@op(
    self=lambda g, indices, self_shape, dim: scatter_zeros(g, indices, self_shape, dim),
    outputs="values indices",
    nondiff="indices",
    variants="function method",
    out="expect",
    named=return_types.topk,
)
def topk(self, /, k: int, dim: int = -1, largest: bool = True, sorted: bool = True):
    """Return the ``k`` largest or smallest elements along ``dim``, sorted, and their indices."""
    if self.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    along = wrapped(dim, self.ndim)
    if not 0 <= k <= (self.shape[along] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if not self.ndim:
        return np.array(self), np.zeros((), np.int64)
    places = np.take(_order(self, dim, largest), np.arange(k), dim)
    return np.take_along_axis(self, places, dim), places


@op()
def searchsorted(sorted_sequence, self, /, right=False):
    """Return where ``self`` would be inserted into the last dimension of a sorted
    ``sorted_sequence``."""
    side: Any = "right" if right else "left"
    if not sorted_sequence.ndim:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
            "dimension"
        )
    if sorted_sequence.ndim == 1:
        return np.searchsorted(sorted_sequence, self, side)
    if self.ndim and sorted_sequence.shape[:-1] != self.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(sorted_sequence.shape)} and input value tensor "
            f"{list(self.shape)}"
        )
    if not self.ndim:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({sorted_sequence.ndim}) and input "
            f"value's dim(0) numel(1)"
        )
    result = np.empty(self.shape, np.int64)
    for place in np.ndindex(sorted_sequence.shape[:-1]):
        result[place] = np.searchsorted(sorted_sequence[place], self[place], side)
    return result


@op(variants="function method")
def bincount(self, weights=None, /, minlength=0):
    """Return how often each integer from 0 on occurs, or the sum of its ``weights``."""
    if self.ndim != 1 or self.dtype.kind not in "iu" or (self.size and self.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.size and weights is not None and weights.shape != self.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    counts = np.bincount(self, weights, minlength)
    single = self.size and weights is not None and weights.dtype == np.float32
    return counts.astype(np.float32) if single else counts


@op()
def nonzero(self, /):
    """Return the indices of all nonzero elements, one per row."""
    return np.argwhere(self)
