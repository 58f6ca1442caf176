"""Elements and slices picked, written and added where an index or a mask says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.autograd.grad_mode import is_grad_enabled
from autograd_core.dtype import Number, bool_, uint8
from autograd_core.op import public
from autograd_core.ops.indices import assign, index_along, masking
from autograd_core.ops.indices import scatter as scattering
from autograd_core.ops.indices.index_checks import (
    check_added,
    check_copied,
    check_filled,
    check_put,
    check_selected,
    check_source,
    check_taken,
    check_taken_along,
    checked_index,
)
from autograd_core.ops.indices.subscript import checked_places, type_name
from autograd_core.ops.pointwise import elementwise
from autograd_core.ops.reductions.sorting import nonzero as places
from autograd_core.ops.shaping.convert import check_gradient
from autograd_core.ops.shaping.shape import expand, reshape
from autograd_core.own_files import warn
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped


@public(out=lambda y=None, **_: "expect" if isinstance(y, Tensor) else "")
def where(condition: Tensor, self: Any = None, y: Any = None) -> Any:
    """Return ``self`` where ``condition`` holds, else ``y``; with ``condition`` alone, the indices
    where it holds."""
    if self is None and y is None:
        return nonzero(condition, as_tuple=True)
    if not isinstance(condition, Tensor):
        raise TypeError(
            "where(): argument 'condition' (position 1) must be Tensor, not " + type_name(condition)
        )
    if condition.dtype is uint8:
        warn(
            "where received a uint8 condition tensor. This behavior is deprecated and will be "
            "removed in a future version of PyTorch. Use a boolean condition instead."
        )
    elif condition.dtype is not bool_:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype.scalar_name}"
        )
    return elementwise.where(condition, self, y)


@public("function method", out="expect")
def gather(self: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Return the elements of ``self`` that ``index`` points to along ``dim``."""
    return scattering.gather(self, checked_index("gather", index), dim)


@public("function method", out="expect")
def take_along_dim(self: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """:func:`gather`, of the flattened tensor without ``dim``; other dimensions broadcast."""
    check_taken_along(self, indices, dim)
    if dim is None:
        return scattering.gather(reshape(self, (-1,)), reshape(indices, (-1,)), 0)
    dim = wrapped(wrapped(dim, self.ndim), self.ndim, of_scalars=False)
    size = self._shape[dim]
    if size and ((indices.array < 0) | (indices.array >= size)).any():
        indices = Tensor.from_array(indices.array % size)  # as PyTorch does
    others = np.broadcast_shapes(
        *((*t._shape[:dim], 1, *t._shape[dim + 1 :]) for t in (self, indices))
    )
    self, indices = (
        expand(t, (*others[:dim], t._shape[dim], *others[dim + 1 :])) for t in (self, indices)
    )
    return scattering.gather(self, indices, dim)


@public("function method inplace", out="expect")
def scatter(
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | Number | None = None,
    *,
    value: Number | None = None,
    reduce: str | None = None,
) -> Tensor:
    """Return ``self`` with ``src``, or the number ``value``, where ``index`` points along ``dim``.
    With ``reduce`` "add" or "multiply", it is added to the elements there, or multiplied with
    them."""
    if (src is None) is (value is None):
        raise TypeError("scatter() takes either src or value")
    src = value if src is None else src
    index = checked_index("scatter", index)
    if reduce is not None:
        return _scatter_reduced(self, dim, index, src, reduce)
    if isinstance(src, Tensor):
        check_source(self, src)
        return scattering.scatter(self, src, index, dim)
    return scattering.scatter_number(self, index, dim, src)


def _scatter_reduced(self: Tensor, dim: int, index: Tensor, src: Any, reduce: str) -> Tensor:
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    if self.requires_grad and is_grad_enabled():
        raise RuntimeError("the derivative for 'scatter' with reduce is not here: scatter_reduce")
    if not isinstance(src, Tensor):
        src = Tensor.from_array(np.full(index._shape, src, self.dtype.dtype))
    check_source(self, src)
    how = "sum" if reduce == "add" else "prod"
    return scattering.scatter_reduce(self, src, index, dim, how, True)


@public("function method inplace", out="expect")
def scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return ``self`` with ``src`` added where ``index`` points along ``dim``."""
    check_source(self, src)
    return scattering.scatter_add(self, src, checked_index("scatter", index), dim)


@public("function method inplace", out="expect")
def scatter_reduce(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Return ``self`` with the elements that ``index`` sends to the same place reduced by sum,
    prod, mean, amax or amin."""
    index = checked_index("scatter", index)
    check_source(self, src)
    return scattering.scatter_reduce(self, src, index, dim, reduce, include_self)


@public("function method", out="expect")
def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices of ``dim`` at ``index``."""
    check_selected(index)
    return index_along.index_select(self, index, dim)


@public("function method inplace", out="expect")
def index_add(
    self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1
) -> Tensor:
    """Return ``self`` with slices of ``source`` added at the indices ``index``."""
    check_added("index_add", self, dim, index, source)
    return index_along.index_add(self, source, index, dim, alpha)


@public("function method inplace", out="expect")
def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Return ``self`` with the slices of ``source`` at ``index``."""
    check_copied(self, dim, index, source)
    return index_along.index_copy(self, source, index, dim)


@public("function method inplace")
def index_fill(self: Tensor, dim: int, index: Tensor, value: Tensor | Number) -> Tensor:
    """Return ``self`` with ``value`` in the slices at ``index``."""
    check_filled(index, value)
    check_gradient(self.dtype, value)
    if isinstance(value, Tensor):
        return index_along.index_fill_tensor(self, value, index, dim)
    return index_along.index_fill(self, index, dim, value)


@public("function method inplace", out="expect")
def index_reduce(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Return ``self`` with the slices that ``index`` sends to the same place reduced by prod, mean,
    amax or amin."""
    check_added("index_reduce", self, dim, index, source)
    return index_along.index_reduce(self, source, index, dim, reduce, include_self)


@public("function method inplace")
def index_put(
    self: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Return ``self`` with ``values`` put at, or added at, ``indices``."""
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            "index_put(): argument 'indices' (position 2) must be tuple of Tensors, not "
            f"{type_name(indices)}"
        )
    for place, part in enumerate(indices):
        if not isinstance(part, Tensor):
            raise TypeError(
                f"expected Tensor as element {place} in argument 1, but got {type_name(part)}"
            )
    if not isinstance(values, Tensor):
        raise TypeError(
            "index_put(): argument 'values' (position 3) must be Tensor, not " + type_name(values)
        )
    picked = checked_places(self, indices, values, accumulate)
    call = index_along.index_put_added if accumulate else assign.assigned
    return call(self, values, picked)


@public("function method inplace")
def masked_fill(self: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """Return ``self`` with ``value`` where ``mask`` holds."""
    if isinstance(value, Tensor):
        check_gradient(self.dtype, value)
        return masking.masked_fill_tensor(self, mask, value)
    return masking.masked_fill(self, mask, value=value)


@public("function method", out="expect")
def take(self: Tensor, index: Tensor) -> Tensor:
    """Return the elements of the flattened ``self`` at ``index``."""
    check_taken("take", self, index)
    return index_along.take(self, index)


@public("function method inplace")
def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Return ``self`` with ``source`` put at, or added at, indices of the flattened tensor."""
    check_taken("put_", self, index)
    check_put(self, index, source)
    return index_along.put(self, source, index, accumulate)


@public("function method", out=lambda as_tuple=False, **_: "" if as_tuple else "expect")
def nonzero(self: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the indices of all nonzero elements: one row for each, or one vector per dimension."""
    rows = places(self if self._shape or not as_tuple else reshape(self, (1,)))
    if not as_tuple:
        return rows
    return tuple(Tensor.from_array(column.copy()) for column in rows.array.T)


@public("function method")
def argwhere(self: Tensor) -> Tensor:
    """Return the indices of all nonzero elements, one per row."""
    return places(self)


def check_slices(x: Tensor, dim: int) -> None:
    """The slices of ``dim`` have elements, by which they differ, or there are none."""
    if 0 in (*x._shape[:dim], *x._shape[dim + 1 :]) and x._shape[dim]:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )


@public("function method")
def unique(
    self: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the distinct elements, or slices of ``dim``, sorted; optionally the index of each, and
    the counts."""
    if dim is not None:
        dim = wrapped(dim, self.ndim, of_scalars=False)
        check_slices(self, dim)
    numpy_unique: Any = np.unique  # its overloads want literal flags
    parts = numpy_unique(self.array, False, return_inverse, return_counts, axis=dim)
    if not isinstance(parts, tuple):
        return Tensor.from_array(parts)
    return tuple(Tensor.from_array(np.asarray(part)) for part in parts)
