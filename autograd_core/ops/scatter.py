"""Elements read and written along a dimension, where an index of many dimensions says."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import Sample, op
from autograd_core.ops.checks import fitting_number
from autograd_core.ops.elementwise import where
from autograd_core.ops.rearrange import constant_pad_nd
from autograd_core.ops.shape import reshape
from autograd_core.ops.statistics import float_mask

_INDEX = np.array([[0, 2, 1], [1, 0, 0]])
_SMALL = np.array([[2, 0], [0, 1]])
_AT = {"dim": 1}


def _places(index: Any, dim: int) -> tuple[Any, ...]:
    """Where ``index`` points along ``dim``, as NumPy's advanced indexing takes it."""
    index = _vector(index)
    grid = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grid[dim] = index
    return tuple(grid)


def _vector(x: Any) -> Any:
    """``x``, as a vector if it has no dimensions: an index into it may have one, or none."""
    return x if x.ndim else x.reshape(1)


def _like(index: Any, src: Any) -> Any:
    """The part of ``src`` that ``index`` covers."""
    return _vector(src)[tuple(slice(n) for n in _vector(index).shape)]


def _check(index: Any, x: Any, dim: int, src: Any = None, name: str = "self") -> None:
    """``index`` points into ``x``, and is no larger than it, apart from ``dim``, and than ``src``,
    if there is one."""
    if max(index.ndim, 1) != max(x.ndim, 1):
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {name} tensor")
    dim %= max(x.ndim, 1)
    beyond = [axis for axis, (n, m) in enumerate(zip(index.shape, x.shape)) if n > m]
    beyond = [axis for axis in beyond if axis != dim]
    fits = src is None or all(n <= m for n, m in zip(_vector(index).shape, _vector(src).shape))
    if index.size and (beyond or not fits):
        size, wanted = list(index.shape), f"to be no larger than self {list(x.shape)}"
        if name == "input":
            raise RuntimeError(
                f"Size does not match at dimension {beyond[0]} expected index {size} {wanted} "
                f"apart from dimension {dim}"
            )
        wanted = f"Expected index {size} {wanted} apart from dimension {dim}"
        if src is not None:
            wanted += f" and to be no larger size than src {list(src.shape)}"
        raise RuntimeError(wanted)
    length = x.shape[dim] if x.ndim else 1
    wrong = (index < 0) | (index >= length)
    if wrong.any():
        raise RuntimeError(
            f"index {index[wrong].flat[0]} is out of bounds for dimension {dim} with size {length}"
        )


@op(
    x=lambda g, index, x_shape, dim: scatter_zeros(g, index, x_shape, dim),
    linear=True,
    samples=(Sample(((2, 3), _INDEX), _AT), Sample(((3, 3), _SMALL), {"dim": 0})),
)
def gather(x, index, /, dim):
    """The elements of ``x`` that ``index`` points to along ``dim``; of the shape of ``index``."""
    _check(index, x, dim, name="input")
    return _vector(x)[_places(index, dim)].reshape(index.shape)


@op(
    x=lambda g, index, dim: gather(g, index, dim),
    linear=True,
    samples=(Sample(((2, 3), _INDEX), {"shape": (2, 3), **_AT}),),
)
def scatter_zeros(x, index, /, shape, dim):
    """Zeros of ``shape`` to which ``x`` was added where ``index`` points."""
    result = np.zeros(shape, x.dtype)
    np.add.at(_vector(result), _places(index, dim), _vector(x))
    return result


@op(
    x=lambda g, index, dim: scatter_number(g, index, dim, 0),
    src=lambda g, index, src_shape, dim: _back(g, index, src_shape, dim),
    linear=True,
    of="scatter",
    node="ScatterBackward0",
    samples=(Sample(((2, 3), (2, 2), _SMALL), _AT), Sample(((2, 3), (2, 3), _SMALL), _AT)),
)
def scatter(x, src, index, /, dim):
    """``x`` with the elements of ``src`` where ``index`` points along ``dim``."""
    _check(index, x, dim, src)
    result = np.array(x)
    _vector(result)[_places(index, dim)] = _like(index, src)
    return result


@op(
    x=lambda g, index, dim: scatter_number(g, index, dim, 0),
    of="scatter",
    node="ScatterBackward1",
    samples=(Sample(((2, 3), _SMALL), {"value": 0.5, **_AT}),),
)
def scatter_number(x, index, /, dim, value):
    """``x`` with the number ``value`` where ``index`` points along ``dim``."""
    _check(index, x, dim)
    result = np.array(x)
    _vector(result)[_places(index, dim)] = fitting_number(value, x.dtype)
    return result


def _back(g: Any, index: Any, shape: tuple[int, ...], dim: int) -> Any:
    """The gradient of ``src``, zero where ``index``, which may be smaller, does not reach."""
    found, size = gather(g, index, dim), tuple(index.shape)
    if size == shape:
        return found
    missing = [n - m for n, m in zip(shape or (1,), size or (1,), strict=True)]
    pad = tuple(n for each in missing[::-1] for n in (0, each))
    return reshape(constant_pad_nd(reshape(found, size or (1,)), pad), shape)


@op(
    x=lambda g: g,
    src=lambda g, index, src_shape, dim: _back(g, index, src_shape, dim),
    linear=True,
    samples=(Sample(((2, 3), (2, 3), _INDEX), _AT), Sample(((2, 3), (2, 3), _SMALL), _AT)),
)
def scatter_add(x, src, index, /, dim):
    """``x`` to which the elements of ``src`` were added where ``index`` points along ``dim``."""
    _check(index, x, dim, src)
    result = np.array(x)
    np.add.at(_vector(result), _places(index, dim), _like(index, src))
    return result


# Reductions of what meets in one place

_REDUCTIONS = tuple(
    Sample(
        ([[1.5, -2.0, 0.5], [3.0, 0.7, -1.0]], [[2.0, 4.0, -1.5], [0.3, 2.5, -0.2]], _INDEX),
        {"dim": 1, "reduce": reduce, "include_self": include_self},
    )
    for reduce in ("sum", "prod", "mean", "amax", "amin")
    for include_self in (True, False)
)
_UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum,
           "amin": np.minimum}  # fmt: skip


def reduce_along(x: Any, src: Any, index: Any, dim: int, reduce: str, include_self: bool) -> Any:
    """``x`` with the elements of ``src`` that point to a place reduced into it."""
    if reduce not in _UFUNCS:
        raise RuntimeError(
            "reduce argument must be either sum, prod, mean, amax or amin, got " + reduce
        )
    _check(index, x, dim, src)
    src, places, result = _like(index, src), _places(index, dim), np.array(x)
    if not include_self:
        starts = {"sum": 0, "mean": 0, "prod": 1, "amax": _lowest(x), "amin": _highest(x)}
        _vector(result)[places] = starts[reduce]
    _UFUNCS[reduce].at(_vector(result), places, src)
    if reduce == "mean":
        number = np.full(x.shape, int(include_self), x.dtype)
        np.add.at(_vector(number), places, 1)
        number = np.maximum(number, 1)
        result = (result / number).astype(x.dtype) if x.dtype.kind == "f" else result // number
    return result


def _lowest(x: Any) -> Any:
    return -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min


def _highest(x: Any) -> Any:
    return np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max


def reduce_slopes(
    g: Any, x: Any, src: Any, index: Any, ans: Any, dim: int, reduce: str, include_self: bool
) -> tuple[Any, Any]:
    """The gradients of ``x`` and of ``src``, both of which may take part in a place."""
    shape = tuple(x.shape)
    if reduce == "sum":
        g_x, g_src = g, gather(g, index, dim)
    elif reduce == "mean":
        number = _number(x, src, index, dim, include_self)
        g_x = g / number
        g_src = gather(g / number, index, dim)
    elif reduce == "prod":
        g_x, g_src = _product_slopes(g, x, src, index, dim)
    else:
        mine, theirs = x == ans, src == gather(ans, index, dim)
        equal = scatter_zeros(float_mask(theirs, x), index, shape, dim)
        if include_self:
            equal = equal + float_mask(mine, x)
        shares = g / where(equal == 0, 1, equal)
        g_x = where(mine, shares, 0)
        g_src = where(theirs, gather(shares, index, dim), 0)
    if not include_self:
        g_x = scatter_number(g_x, index, dim, 0)
        if reduce == "prod":
            ones = scatter_number(x, index, dim, 1)
            _, g_src = _product_slopes(g, ones, src, index, dim)
    return g_x, g_src


def _number(x: Any, src: Any, index: Any, dim: int, include_self: bool) -> Any:
    """How many elements meet in each place; at least one."""
    number = scatter_zeros(float_mask(src == src, x), index, tuple(x.shape), dim)
    number = number + 1 if include_self else number
    return where(number == 0, 1, number)


def _product_slopes(g: Any, x: Any, src: Any, index: Any, dim: int) -> tuple[Any, Any]:
    """For products: each factor's gradient is the product of the others, zeros apart."""
    x_safe, src_safe = where(x == 0, 1, x), where(src == 0, 1, src)
    rest = scatter_reduce(x_safe, src_safe, index, dim, "prod", True)
    zeros = scatter_zeros(float_mask(src == 0, x), index, tuple(x.shape), dim)
    all_zeros = zeros + float_mask(x == 0, x)
    g_x = where(zeros == 0, g * rest / x_safe, 0)
    there = gather(all_zeros, index, dim)
    others = gather(g * rest, index, dim) / src_safe
    return g_x, where(there == float_mask(src == 0, src), others, 0)


@op(
    joint=lambda g, x, src, index, ans, dim, reduce, include_self: reduce_slopes(
        g, x, src, index, ans, dim, reduce, include_self
    ),
    edges="x src",
    samples=_REDUCTIONS,
)
def scatter_reduce(x, src, index, /, dim, reduce, include_self=True):
    """``x`` with the elements of ``src`` that ``index`` points to a place reduced into it."""
    return reduce_along(x, src, index, dim, reduce, include_self)
