"""Slices of one dimension picked, added, copied and filled by a list of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import op
from autograd_core.ops.checks import check_not_bool, fitting_number
from autograd_core.ops.indices.assign import misplaced
from autograd_core.ops.indices.index import index as picked
from autograd_core.ops.indices.scatter import reduce_along, reduce_slopes
from autograd_core.ops.pointwise.elementwise import zeros_of
from autograd_core.ops.reductions.reduce import sum_all
from autograd_core.ops.shaping.shape import at_least_1d, expand, reshape
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped


def _at(x: Any, index: Any, dim: int, name: str = "", from_end: bool = False) -> Any:
    """Return where ``index`` points along ``dim``, as NumPy's indexing takes it; ``from_end``, it
    may count from the end."""
    axis = wrapped(dim, x.ndim)
    size = x.shape[axis] if x.ndim else 1
    wrong = (index < (-size if from_end else 0)) | (index >= size)
    if wrong.any():
        raise _out_of_range(name, index[wrong].flat[0], axis, size)
    return (slice(None),) * axis + (at_least_1d(index),)


def _out_of_range(name: str, number: int, dim: int, size: int) -> Exception:
    if not name:
        return IndexError("index out of range in self")
    beyond = f"index {number} is out of bounds for dimension {dim} with size {size}"
    if name == "index_add":
        return RuntimeError(beyond)
    return IndexError(f"index_copy_(): {beyond}" if name == "index_copy" else beyond)


@op(
    self=lambda g, index, self_shape, dim: add_slices(g, index, self_shape, dim),
    linear=True,
    layout="contiguous",
)
def index_select(self, index, /, dim):
    """Return the slices of ``dim`` at ``index``."""
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    places = _at(self, index, dim)
    if self.ndim:
        return self[places]
    if index.size != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
        )
    return np.array(self)


@op(self=lambda g, index, dim: index_select(g, index, dim), linear=True)
def add_slices(self, index, /, shape, dim):
    """Return zeros of ``shape`` with the slices of ``self`` added at ``index``."""
    result = np.zeros(shape, self.dtype)
    np.add.at(at_least_1d(result), _at(result, index, dim), at_least_1d(self))
    return result


@op(
    self=lambda g: g,
    source=lambda g, index, dim, alpha: index_select(g, index, dim) * alpha,
    linear=True,
    layout="contiguous",
)
def index_add(self, source, index, /, dim, alpha=1):
    """Return ``self`` with ``alpha`` times the slices of ``source`` added at ``index``."""
    result = np.array(self)
    added = at_least_1d(source if alpha == 1 else source * alpha)
    np.add.at(at_least_1d(result), _at(self, index, dim, "index_add"), added)
    return result


@op(
    self=lambda g, index, dim: index_fill(g, index, dim, 0),
    source=lambda g, index, dim: index_select(g, index, dim),
    linear=True,
    layout="contiguous",
)
def index_copy(self, source, index, /, dim):
    """Return ``self`` with the slices of ``source`` at ``index``."""
    result = np.array(self)
    at_least_1d(result)[_at(self, index, dim, "index_copy")] = source
    return result


@op(self=lambda g, index, dim: index_fill(g, index, dim, 0), layout="preserved")
def index_fill(self, index, /, dim, value):
    """Return ``self`` with the number ``value`` in the slices at ``index``."""
    return _filled(self, index, dim, value)


def _filled(x: Any, index: Any, dim: int, value: Any) -> Any:
    result, places = np.array(x), _at(x, index, dim, "index_fill", from_end=True)
    at_least_1d(result)[places] = fitting_number(value, x.dtype)
    return result


@op(
    self=lambda g, index, dim: index_fill(g, index, dim, 0),
    value=lambda g, index, dim: sum_all(index_select(g, each_once(index, g, dim), dim)),
    linear=True,
    broadcasts="value",
    of="index_fill",
    node="IndexFillBackward1",
    layout="preserved",
)
def index_fill_tensor(self, value, index, /, dim):
    """Return ``self`` with the value of a one-element tensor in the slices at ``index``."""
    return _filled(self, index, dim, value.item())


def each_once(index: Any, x: Any, dim: int) -> Any:
    """Return the different places along ``dim`` of ``x`` in ``index``, from the start."""
    if isinstance(index, Tensor):
        return Tensor.from_array(each_once(index.array, x, dim))
    return np.unique(index % (x.shape[dim] if x.ndim else 1))


@op(
    joint=lambda g, self, source, index, result, dim, reduce, include_self: reduce_slopes(
        g,
        self,
        source,
        whole_index(index, source, dim),
        result,
        dim,
        reduce,
        include_self,
        "index_reduce",
    ),
    edges="self source",
    layout="contiguous",
)
def index_reduce(self, source, index, /, dim, reduce, include_self=True):
    """Return ``self`` with the slices of ``source`` reduced into the slices at ``index``."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    if self.ndim < 2 or reduce == "mean":
        check_not_bool("index_func_" if self.ndim < 2 else "div_floor_cpu", self)
    _at(self, index, dim)  # is in range
    return reduce_along(self, source, whole_index(index, source, dim), dim, reduce, include_self)


def whole_index(index: Any, source: Any, dim: int) -> Any:
    """Return ``index`` for every element of ``source``."""
    shape = tuple(source.shape)
    row = [1] * len(shape)
    if shape:
        row[dim] = -1
    return expand(reshape(index, row), shape)


@op(
    self=lambda g: g,
    values=lambda g, indices: picked(g, indices),
    broadcasts="values",
    holds="indices",
    linear=True,
    of="index_put",
    node="IndexPutBackward0",
)
def index_put_added(self, values, /, indices):
    """Return ``self`` with ``values`` added at ``indices``, as in advanced indexing."""
    result = np.array(self)
    try:
        np.add.at(result, indices, values)
    except (ValueError, IndexError, TypeError) as error:
        raise misplaced(error, self, values, indices) from None
    return result


@op(self=lambda g, index, self_shape: put_flat(g, index, self_shape), linear=True)
def take(self, index, /):
    """Return the elements of the flattened ``self`` at ``index``, with the shape of ``index``."""
    return np.take(self, _reachable(self, index))


def _reachable(x: Any, index: Any) -> Any:
    """Return ``index``, which points to elements of the flattened ``x``."""
    wrong = (index < -x.size) | (index >= x.size)
    if wrong.any():
        raise IndexError(
            f"out of range: tried to access index {index[wrong].flat[0]} on a tensor of {x.size} "
            "elements."
        )
    return index


@op(self=lambda g, index: take(g, index), linear=True)
def put_flat(self, index, /, shape):
    """Return zeros of ``shape`` with ``self`` added at indices of the flattened tensor."""
    result = np.zeros(shape, self.dtype)
    np.add.at(result.reshape(-1), index, self)
    return result


@op(
    self=lambda g, index, accumulate: g if accumulate else put(g, zeros_of(take(g, index)), index),
    source=lambda g, index, source_shape: reshape(take(g, index), source_shape),
    linear=True,
    layout="preserved",
)
def put(self, source, index, /, accumulate=False):
    """Return ``self`` with ``source`` put at, or added at, indices of the flattened tensor."""
    result = np.array(self, order="C")
    flat, values = result.reshape(-1), source.reshape(_reachable(self, index).shape)
    if accumulate:
        np.add.at(flat, index, values)
    else:
        flat[index] = values
    return result
