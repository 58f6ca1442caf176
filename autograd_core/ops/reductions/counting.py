"""How often what occurs, and whether: of plain numbers, outside any graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.dtype import Number
from autograd_core.op import public
from autograd_core.op.refusals import not_implemented
from autograd_core.ops.indices.index_functions import check_slices
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped


@public(out="expect")
def histc(self: Tensor, bins: int = 100, min: Number = 0, max: Number = 0) -> Tensor:
    """Return how many elements are in each of ``bins`` equal parts of the range from ``min`` to
    ``max``, or of the range of ``self`` if these are equal."""
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if not (math.isfinite(min) and math.isfinite(max)):
        raise RuntimeError(f"torch.histc: range of [{min:g}, {max:g}] is not finite")
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")
    if not self.dtype.is_floating_point:
        raise not_implemented("histogram_cpu", self.dtype)
    low, high = (
        (min, max) if min != max or not self.array.size else (self.array.min(), self.array.max())
    )
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    counts, _ = np.histogram(self.array, bins, (float(low), float(high)))
    return Tensor.from_array(counts.astype(self.array.dtype))


@public(out="expect")
def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Return whether each of ``elements`` is among ``test_elements``."""
    values, among = (
        t.array if isinstance(t, Tensor) else np.asarray(t) for t in (elements, test_elements)
    )
    result = np.isin(values, among, assume_unique=assume_unique, invert=invert)
    return Tensor.from_array(np.asarray(result))


@public()
def unique_consecutive(
    self: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return the flattened ``self``, or the slices of ``dim``, without consecutive duplicates;
    optionally the index of each, and the counts."""
    if dim is not None:
        dim = wrapped(dim, self.ndim, of_scalars=False)
        check_slices(self, dim)
    slices = self.array.reshape(-1) if dim is None else np.moveaxis(self.array, dim, 0)
    count = len(slices)
    rows = slices.reshape(count, math.prod(slices.shape[1:]))
    first = np.ones(count, np.bool_)
    first[1:] = (rows[1:] != rows[:-1]).any(-1)
    kept = slices[first] if dim is None else np.moveaxis(slices[first], 0, dim)
    arrays = [kept.copy()]
    if return_inverse:
        where = np.cumsum(first) - 1
        arrays.append(where.reshape(self._shape) if dim is None else where)
    if return_counts:
        arrays.append(np.diff(np.append(np.flatnonzero(first), count)))
    tensors = tuple(Tensor.from_array(np.asarray(array)) for array in arrays)
    return tensors if len(tensors) > 1 else tensors[0]
