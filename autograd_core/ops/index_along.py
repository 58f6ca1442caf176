"""Slices of one dimension picked, added, copied and filled by a list of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import Sample, op
from autograd_core.ops.assign import misplaced
from autograd_core.ops.checks import check_not_bool, fitting_number
from autograd_core.ops.elementwise import zeros_of
from autograd_core.ops.index import index as picked
from autograd_core.ops.reduce import sum_all
from autograd_core.ops.scatter import reduce_along, reduce_slopes
from autograd_core.ops.shape import at_least_1d, expand, reshape
from autograd_core.tensor.dimensions import wrapped

_INDEX = np.array([2, 0, 2])
_TWO = np.array([2, 0])


def _at(x: Any, index: Any, dim: int, name: str = "", from_end: bool = False) -> Any:
    """Where ``index`` points along ``dim``, as NumPy's indexing takes it; ``from_end``, it may
    count from the end."""
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
    x=lambda g, index, x_shape, dim: add_slices(g, index, x_shape, dim),
    linear=True,
    samples=(Sample(((3, 2), _INDEX), {"dim": 0}), Sample(((2, 3), _INDEX), {"dim": 1})),
)
def index_select(x, index, /, dim):
    """The slices of ``dim`` that ``index`` lists."""
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    places = _at(x, index, dim)
    if x.ndim:
        return x[places]
    if index.size != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)"
        )
    return np.array(x)


@op(
    x=lambda g, index, dim: index_select(g, index, dim),
    linear=True,
    samples=(Sample(((3, 2), _INDEX), {"shape": (4, 2), "dim": 0}),),
)
def add_slices(x, index, /, shape, dim):
    """Zeros of ``shape`` to which the slices of ``x`` were added where ``index`` says."""
    result = np.zeros(shape, x.dtype)
    np.add.at(at_least_1d(result), _at(result, index, dim), at_least_1d(x))
    return result


@op(
    x=lambda g: g,
    source=lambda g, index, dim, alpha: index_select(g, index, dim) * alpha,
    linear=True,
    samples=(
        Sample(((3, 2), (3, 2), _INDEX), {"dim": 0}),
        Sample(((2, 3), (2, 2), _TWO), {"dim": 1, "alpha": 2}),
    ),
)
def index_add(x, source, index, /, dim, alpha=1):
    """``x`` to which ``alpha`` times the slices of ``source`` were added where ``index`` says."""
    result = np.array(x)
    added = at_least_1d(source if alpha == 1 else source * alpha)
    np.add.at(at_least_1d(result), _at(x, index, dim, "index_add"), added)
    return result


@op(
    x=lambda g, index, dim: index_fill(g, index, dim, 0),
    source=lambda g, index, dim: index_select(g, index, dim),
    linear=True,
    samples=(Sample(((3, 2), (2, 2), _TWO), {"dim": 0}),),
)
def index_copy(x, source, index, /, dim):
    """``x`` with the slices of ``source`` where ``index`` says."""
    result = np.array(x)
    at_least_1d(result)[_at(x, index, dim, "index_copy")] = source
    return result


@op(
    x=lambda g, index, dim: index_fill(g, index, dim, 0),
    samples=(Sample(((3, 2), _TWO), {"dim": 0, "value": 0.5}),),
)
def index_fill(x, index, /, dim, value):
    """``x`` with the number ``value`` in the slices that ``index`` lists."""
    return _filled(x, index, dim, value)


def _filled(x: Any, index: Any, dim: int, value: Any) -> Any:
    result, places = np.array(x), _at(x, index, dim, "index_fill", from_end=True)
    at_least_1d(result)[places] = fitting_number(value, x.dtype)
    return result


@op(
    x=lambda g, index, dim: index_fill(g, index, dim, 0),
    value=lambda g, index, dim: sum_all(index_select(g, index, dim)),
    linear=True,
    broadcasts="value",
    of="index_fill",
    node="IndexFillBackward1",
    samples=(Sample(((3, 2), (), _TWO), {"dim": 0}),),
)
def index_fill_tensor(x, value, index, /, dim):
    """``x`` with the one value of a tensor in the slices that ``index`` lists."""
    return _filled(x, index, dim, value.item())


@op(
    joint=lambda g, x, source, index, ans, dim, reduce, include_self: reduce_slopes(
        g,
        x,
        source,
        whole_index(index, source, dim),
        ans,
        dim,
        reduce,
        include_self,
        "index_reduce",
    ),
    edges="x source",
    samples=tuple(
        Sample(
            ([[1.5, -2.0], [3.0, 0.7]], [[2.0, 4.0], [0.3, 2.5], [1.0, -3.0]], np.array([1, 0, 1])),
            {"dim": 0, "reduce": reduce, "include_self": include_self},
        )
        for reduce in ("prod", "mean", "amax", "amin")
        for include_self in (True, False)
    ),
)
def index_reduce(x, source, index, /, dim, reduce, include_self=True):
    """``x`` with the slices of ``source`` that ``index`` points to a place reduced into it."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    if x.ndim < 2 or reduce == "mean":
        check_not_bool("index_func_" if x.ndim < 2 else "div_floor_cpu", x)
    _at(x, index, dim)  # is in range
    return reduce_along(x, source, whole_index(index, source, dim), dim, reduce, include_self)


def whole_index(index: Any, source: Any, dim: int) -> Any:
    """``index`` for every element of ``source``."""
    shape = tuple(source.shape)
    row = [1] * len(shape)
    if shape:
        row[dim] = -1
    return expand(reshape(index, row), shape)


@op(
    x=lambda g: g,
    values=lambda g, indices: picked(g, indices),
    broadcasts="values",
    holds="indices",
    linear=True,
    of="index_put",
    node="IndexPutBackward0",
    samples=(Sample(((3, 2), (2,)), {"indices": (np.array([2, 0, 2]),)}),),
)
def index_put_added(x, values, /, indices):
    """``x`` to which ``values`` were added at ``indices``, as advanced indexing picks them."""
    result = np.array(x)
    try:
        np.add.at(result, indices, values)
    except (ValueError, IndexError, TypeError) as error:
        raise misplaced(error, x, values, indices) from None
    return result


# By places in the flattened tensor

_FLAT = np.array([4, 0, 4])


@op(
    x=lambda g, index, x_shape: put_flat(g, index, x_shape),
    linear=True,
    samples=(Sample(((2, 3), _FLAT)),),
)
def take(x, index, /):
    """The elements of the flattened ``x`` that ``index`` points to; of the shape of ``index``."""
    return np.take(x, _reachable(x, index))


def _reachable(x: Any, index: Any) -> Any:
    """``index``, which points to elements of the flattened ``x``."""
    wrong = (index < -x.size) | (index >= x.size)
    if wrong.any():
        raise IndexError(
            f"out of range: tried to access index {index[wrong].flat[0]} on a tensor of {x.size} "
            "elements."
        )
    return index


@op(
    x=lambda g, index: take(g, index),
    linear=True,
    samples=(Sample(((3,), _FLAT), {"shape": (2, 3)}),),
)
def put_flat(x, index, /, shape):
    """Zeros of ``shape`` to which ``x`` was added in places of the flattened tensor."""
    result = np.zeros(shape, x.dtype)
    np.add.at(result.reshape(-1), index, x)
    return result


@op(
    x=lambda g, index, accumulate: g if accumulate else put(g, zeros_of(take(g, index)), index),
    source=lambda g, index, source_shape: reshape(take(g, index), source_shape),
    linear=True,
    samples=(
        Sample(((2, 3), (2,), np.array([4, 0]))),
        Sample(((2, 3), (3,), _FLAT), {"accumulate": True}),
    ),
)
def put(x, source, index, /, accumulate=False):
    """``x`` with ``source`` in, or added to, places of the flattened tensor."""
    result = np.array(x, order="C")
    flat, values = result.reshape(-1), source.reshape(_reachable(x, index).shape)
    if accumulate:
        np.add.at(flat, index, values)
    else:
        flat[index] = values
    return result
