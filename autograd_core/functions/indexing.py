"""Elements and slices picked, written and added where an index or a mask says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.dtype import Number, bool_, uint8
from autograd_core.functions.convert import check_gradient
from autograd_core.functions.index_checks import (
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
from autograd_core.functions.subscript import checked_places, type_name
from autograd_core.op import public
from autograd_core.ops import assign, elementwise, index_along, masking
from autograd_core.ops import scatter as scattering
from autograd_core.ops.shape import expand, reshape
from autograd_core.ops.sorting import nonzero as places
from autograd_core.own_files import warn
from autograd_core.tensor import Tensor
from autograd_core.tensor.dimensions import wrapped


@public()
def where(condition: Tensor, x: Any = None, y: Any = None) -> Any:
    """``x`` where ``condition`` holds, else ``y``; alone, the places where it does."""
    if x is None and y is None:
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
    return elementwise.where(condition, x, y)


@public("function method")
def gather(x: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """The elements of ``x`` that ``index`` points to along ``dim``."""
    return scattering.gather(x, checked_index("gather", index), dim)


@public("function method")
def take_along_dim(x: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """:func:`gather`, of the flattened tensor without ``dim``; other dimensions broadcast."""
    check_taken_along(x, indices, dim)
    if dim is None:
        return scattering.gather(reshape(x, (-1,)), reshape(indices, (-1,)), 0)
    dim = wrapped(wrapped(dim, x.ndim), x.ndim, of_scalars=False)
    others = np.broadcast_shapes(
        *((*t._shape[:dim], 1, *t._shape[dim + 1 :]) for t in (x, indices))
    )
    x, indices = (
        expand(t, (*others[:dim], t._shape[dim], *others[dim + 1 :])) for t in (x, indices)
    )
    return scattering.gather(x, indices, dim)


@public("function method inplace")
def scatter(
    x: Tensor, dim: int, index: Tensor, src: Tensor | Number, *, reduce: str = ""
) -> Tensor:
    """``x`` with ``src`` where ``index`` points along ``dim``."""
    if reduce:
        raise NotImplementedError("scatter(reduce=...): use scatter_reduce")
    index = checked_index("scatter", index)
    if isinstance(src, Tensor):
        check_source(x, src)
        return scattering.scatter(x, src, index, dim)
    return scattering.scatter_number(x, index, dim, src)


@public("function method inplace")
def scatter_add(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``x`` to which ``src`` was added where ``index`` points along ``dim``."""
    check_source(x, src)
    return scattering.scatter_add(x, src, checked_index("scatter", index), dim)


@public("function method inplace")
def scatter_reduce(
    x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """``x`` with what ``index`` points to a place reduced: sum, prod, mean, amax or amin."""
    index = checked_index("scatter", index)
    check_source(x, src)
    return scattering.scatter_reduce(x, src, index, dim, reduce, include_self)


@public("function method")
def index_select(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of ``dim`` that ``index`` lists."""
    check_selected(index)
    return index_along.index_select(x, index, dim)


@public("function method inplace")
def index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """``x`` to which slices were added where ``index`` says."""
    check_added("index_add", x, dim, index, source)
    return index_along.index_add(x, source, index, dim, alpha)


@public("function method inplace")
def index_copy(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """``x`` with the slices of ``source`` where ``index`` says."""
    check_copied(x, dim, index, source)
    return index_along.index_copy(x, source, index, dim)


@public("function method inplace")
def index_fill(x: Tensor, dim: int, index: Tensor, value: Tensor | Number) -> Tensor:
    """``x`` with ``value`` in the slices that ``index`` lists."""
    check_filled(index, value)
    check_gradient(x.dtype, value)
    if isinstance(value, Tensor):
        return index_along.index_fill_tensor(x, value, index, dim)
    return index_along.index_fill(x, index, dim, value)


@public("function method inplace")
def index_reduce(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """``x`` with slices that ``index`` points to a place reduced: prod, mean, amax or amin."""
    check_added("index_reduce", x, dim, index, source)
    return index_along.index_reduce(x, source, index, dim, reduce, include_self)


@public("function method inplace")
def index_put(
    x: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False
) -> Tensor:
    """``x`` with ``values`` at, or added to, the places that ``indices`` pick."""
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            "index_put(): argument 'indices' (position 2) must be tuple of Tensors, not "
            f"{type_name(indices)}"
        )
    for place, each in enumerate(indices):
        if not isinstance(each, Tensor):
            raise TypeError(
                f"expected Tensor as element {place} in argument 1, but got {type_name(each)}"
            )
    if not isinstance(values, Tensor):
        raise TypeError(
            "index_put(): argument 'values' (position 3) must be Tensor, not " + type_name(values)
        )
    picked = checked_places(x, indices, values, accumulate)
    call = index_along.index_put_added if accumulate else assign.assigned
    return call(x, values, picked)


@public("function method inplace")
def masked_fill(x: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """``x`` with ``value`` where ``mask`` holds."""
    if isinstance(value, Tensor):
        check_gradient(x.dtype, value)
        return masking.masked_fill_tensor(x, mask, value)
    return masking.masked_fill(x, mask, value=value)


@public("function method")
def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """The elements of ``x`` where ``mask`` holds, as a vector."""
    return masking.masked_select(x, mask)


@public("function method inplace")
def masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``x`` with the elements of ``source``, in order, where ``mask`` holds."""
    return masking.masked_scatter(x, source, mask)


@public("function method")
def take(x: Tensor, index: Tensor) -> Tensor:
    """The elements of the flattened ``x`` that ``index`` points to."""
    check_taken("take", x, index)
    return index_along.take(x, index)


@public("function method inplace")
def put(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """``x`` with ``source`` in, or added to, places of the flattened tensor."""
    check_taken("put_", x, index)
    check_put(x, index, source)
    return index_along.put(x, source, index, accumulate)


@public("function method")
def nonzero(x: Tensor, *, as_tuple: bool = False) -> Any:
    """The places of all elements that are not 0: one row each, or one vector per dimension."""
    found = places(x)
    if not as_tuple:
        return found
    return tuple(Tensor.from_array(column.copy()) for column in found.array.T)


@public("function method")
def argwhere(x: Tensor) -> Tensor:
    """The places of all elements that are not 0, one row each."""
    return places(x)


def check_slices(x: Tensor, dim: int) -> None:
    """The slices of ``dim`` have elements, by which they differ, or there are none."""
    if 0 in (*x._shape[:dim], *x._shape[dim + 1 :]) and x._shape[dim]:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )


@public("function method")
def unique(
    x: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements, or slices of ``dim``, in order; where each went, how many."""
    if dim is not None:
        dim = wrapped(dim, x.ndim, of_scalars=False)
        check_slices(x, dim)
    numpy_unique: Any = np.unique  # its overloads want literal flags
    found = numpy_unique(x.array, False, return_inverse, return_counts, axis=dim)
    if not isinstance(found, tuple):
        return Tensor.from_array(found)
    return tuple(Tensor.from_array(np.asarray(part)) for part in found)
