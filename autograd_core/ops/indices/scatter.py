"""Elements read and written along a dimension, where an index of many dimensions says."""

from __future__ import annotations

import functools
from operator import gt
from typing import Any, Final, TypeAlias

import numpy as np

from autograd_core.op import op
from autograd_core.op.buffering import short_buffers
from autograd_core.ops.checks import check_not_bool, fitting_number
from autograd_core.ops.pointwise.elementwise import where, zeros_of
from autograd_core.ops.pointwise.logic import logical_and
from autograd_core.ops.reductions.statistics import any as any_of
from autograd_core.ops.reductions.statistics import float_mask
from autograd_core.ops.shaping.rearrange import constant_pad_nd
from autograd_core.ops.shaping.shape import at_least_1d, reshape
from autograd_core.tensor.size import wrapped

Shape: TypeAlias = tuple[int, ...]


def _places(index: Any, dim: int) -> tuple[Any, ...]:
    """Return where ``index`` points along ``dim``, as NumPy's advanced indexing takes it."""
    index = at_least_1d(index)
    last = index.ndim - 1
    return tuple(
        index if axis == dim % (last + 1) else np.arange(n).reshape(-1, *(1,) * (last - axis))
        for axis, n in enumerate(index.shape)
    )


def _add_at(result: Any, index: Any, dim: int, x: Any) -> None:
    """``np.add.at`` where ``index`` points along ``dim``; into flat memory, and so with one index
    for all dimensions, it takes a fifth of the time."""
    if not result.flags.c_contiguous:
        np.add.at(result, _places(index, dim), x)
        return
    for part in _parts(index, dim):
        rows = result[part]
        places = _flat_places(index[part], dim, rows)
        np.add.at(rows.reshape(-1), places.reshape(-1), np.ravel(x[part]))


_PART: Final = 1 << 16  # elements
_MANY: Final = 1 << 14


def _parts(index: Any, dim: int) -> list[Any]:
    """Return which rows to take together, so that the places of a large index stay in the cache:
    two thirds of the time."""
    if index.size <= 2 * _PART or dim % index.ndim == 0:
        return [...]
    height = max(1, _PART * len(index) // index.size)
    return [slice(start, start + height) for start in range(0, len(index), height)]


def _flat_places(index: Any, dim: int, x: Any) -> Any:
    """Return where ``index`` points along ``dim`` in the memory of the contiguous ``x``."""
    steps = (step // x.itemsize for step in x.strides)
    pairs = zip(_places(index, dim), steps, strict=True)
    parts = [p if step == 1 else p * step for p, step in pairs]
    if index.size <= _MANY:
        return functools.reduce(np.add, parts)
    with short_buffers(index.shape[-1]):
        return functools.reduce(np.add, parts)


def _like(index: Any, src: Any) -> Any:
    """Return the part of ``src`` that ``index`` covers."""
    return at_least_1d(src)[tuple(slice(n) for n in at_least_1d(index).shape)]


def _check(index: Any, x: Any, dim: int, src: Any = None, name: str = "self") -> None:
    """``index`` points into ``x``, and is no larger than it, apart from ``dim``, and than ``src``,
    if there is one; one without elements points nowhere."""
    dim = wrapped(dim, x.ndim)
    if not index.size:
        return
    if max(index.ndim, 1) != max(x.ndim, 1):
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {name} tensor")
    if src is not None and src.ndim < x.ndim:
        wrapped(x.ndim - 1, src.ndim)
    size, short = index.shape, src is not None and any(map(gt, index.shape, src.shape))
    if short or any(map(gt, size, x.shape)):
        _check_sizes(size, x.shape, dim, None if src is None else src.shape, name)
    length = x.shape[dim] if x.ndim else 1
    if index.dtype == np.int64:
        beyond = index.view(np.uint64).max() >= length  # negative ones, too: in one pass
    else:
        beyond = index.min() < 0 or index.max() >= length
    if beyond:
        wrong = (index < 0) | (index >= length)
        raise RuntimeError(
            f"index {index[wrong].flat[0]} is out of bounds for dimension {dim} with size {length}"
        )


def _check_sizes(size: Shape, shape: Shape, dim: int, src_shape: Shape | None, name: str) -> None:
    beyond = [axis for axis, (n, m) in enumerate(zip(size, shape)) if n > m and axis != dim]
    short = src_shape is not None and any(n > m for n, m in zip(size or (1,), src_shape or (1,)))
    if not (beyond or short):
        return
    wanted = f"{list(size)} to be no larger than self {list(shape)} apart from dimension {dim}"
    if name == "input":
        raise RuntimeError(f"Size does not match at dimension {beyond[0]} expected index {wanted}")
    if src_shape is not None:
        wanted += f" and to be no larger size than src {list(src_shape)}"
    raise RuntimeError(f"Expected index {wanted}")


@op(
    self=lambda g, index, self_shape, dim: scatter_zeros(g, index, self_shape, dim),
    linear=True,
    layout="contiguous",
)
def gather(self, index, /, dim):
    """Return the elements of ``self`` at ``index`` along ``dim``, with the shape of ``index``."""
    _check(index, self, dim, name="input")
    if not index.size:
        return np.zeros(index.shape, self.dtype)
    self = at_least_1d(self)
    if self.flags.c_contiguous:  # with one index, two thirds of the time
        result = np.empty(at_least_1d(index).shape, self.dtype)
        for part in _parts(index, dim):
            rows = self[part]
            places = _flat_places(index[part], dim, rows)
            # checked above; `rows[places]` would check again, and take half as long again
            rows.reshape(-1).take(places, None, result[part], "clip")
        return result.reshape(index.shape)
    return self[_places(index, dim)].reshape(index.shape)


@op(self=lambda g, index, dim: gather(g, index, dim), linear=True)
def scatter_zeros(self, index, /, shape, dim):
    """Return zeros of ``shape`` with ``self`` added at ``index``."""
    result = np.zeros(shape, self.dtype)
    if index.size:
        _add_at(at_least_1d(result), index, dim, at_least_1d(self))
    return result


@op(
    self=lambda g, index, dim: scatter_number(g, index, dim, 0),
    src=lambda g, index, src_shape, dim: _back(g, index, src_shape, dim),
    linear=True,
    of="scatter",
    node="ScatterBackward0",
    layout="contiguous",
)
def scatter(self, src, index, /, dim):
    """Return ``self`` with the elements of ``src`` at ``index`` along ``dim``."""
    _check(index, self, dim, src)
    result = np.array(self)
    if index.size:
        at_least_1d(result)[_places(index, dim)] = _like(index, src)
    return result


@op(
    self=lambda g, index, dim: scatter_number(g, index, dim, 0),
    of="scatter",
    node="ScatterBackward1",
    layout="contiguous",
)
def scatter_number(self, index, /, dim, value):
    """Return ``self`` with the number ``value`` at ``index`` along ``dim``."""
    _check(index, self, dim)
    result = np.array(self)
    if index.size:
        at_least_1d(result)[_places(index, dim)] = fitting_number(value, self.dtype)
    return result


def _back(g: Any, index: Any, shape: tuple[int, ...], dim: int) -> Any:
    """Return the gradient of ``src``, zero where a smaller ``index`` does not reach."""
    g_src = gather(g, index, dim)
    if 0 in index.shape:
        return scatter_zeros(g_src, index, shape, dim)
    return _fitted(g_src, shape)


def _fitted(g: Any, shape: tuple[int, ...]) -> Any:
    """Return ``g`` with zeros behind it in each dimension, up to ``shape``."""
    missing = [n - m for n, m in zip(shape or (1,), tuple(g.shape) or (1,), strict=True)]
    if any(missing):
        pad = tuple(n for count in missing[::-1] for n in (0, count))
        g = constant_pad_nd(at_least_1d(g), pad)
    return g if tuple(g.shape) == shape else reshape(g, shape)


@op(
    self=lambda g: g,
    src=lambda g, index, src_shape, dim: _back(g, index, src_shape, dim),
    linear=True,
    layout="contiguous",
)
def scatter_add(self, src, index, /, dim):
    """Return ``self`` with the elements of ``src`` added at ``index`` along ``dim``."""
    _check(index, self, dim, src)
    result = np.array(self)
    if index.size:
        _add_at(at_least_1d(result), index, dim, _like(index, src))
    return result


_UFUNCS = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum,
           "amin": np.minimum}  # fmt: skip


def reduce_along(x: Any, src: Any, index: Any, dim: int, reduce: str, include_self: bool) -> Any:
    """Return ``x`` with the elements of ``src`` that point to a place reduced into it."""
    if reduce not in _UFUNCS:
        raise RuntimeError(
            "reduce argument must be either sum, prod, mean, amax or amin, got " + reduce
        )
    _check(index, x, dim, src)
    result = np.array(x)
    if not index.size:
        return result
    src, places, rows = _like(index, src), _places(index, dim), at_least_1d(result)
    if not include_self:
        starts = {"sum": 0, "mean": 0, "prod": 1, "amax": _lowest(x), "amin": _highest(x)}
        rows[places] = starts[reduce]
    _UFUNCS[reduce].at(rows, places, src)
    if reduce == "mean":
        number = np.full(rows.shape, int(include_self), x.dtype)
        np.add.at(number, places, 1)
        number = np.maximum(number, 1)
        rows[...] = rows / number if x.dtype.kind == "f" else rows // number
    return result


def _lowest(x: Any) -> Any:
    if x.dtype.kind == "b":
        return False
    return -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min


def _highest(x: Any) -> Any:
    if x.dtype.kind == "b":
        return True
    return np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max


def reduce_slopes(
    g: Any,
    x: Any,
    src: Any,
    index: Any,
    ans: Any,
    dim: int,
    reduce: str,
    include_self: bool,
    op: str = "scatter_reduce",
) -> tuple[Any, Any]:
    """Return the gradients of ``x`` and of ``src``, both of which may take part in a place."""
    shape = tuple(src.shape)
    if 0 in index.shape:
        return g, scatter_zeros(gather(g, index, dim), index, shape, dim)
    part = src if shape == index.shape else reshape(_like(index, src), index.shape)
    if reduce == "prod":
        g_x, g_part = _product_slopes(g, x, part, index, ans, dim, include_self, op)
    elif reduce in ("amax", "amin"):
        mine = float_mask(x == ans, x)
        theirs = float_mask(part == gather(ans, index, dim), x)
        shares = g / scatter_add(mine, theirs, index, dim)
        g_x, g_part = mine * shares, theirs * gather(shares, index, dim)
    else:
        g_x = g / _number(x, part, index, dim, include_self) if reduce == "mean" else g
        g_part = gather(g_x, index, dim)
    if not include_self:
        g_x = scatter_number(g_x, index, dim, 0)
    return g_x, _fitted(g_part, shape)


def _number(x: Any, src: Any, index: Any, dim: int, include_self: bool) -> Any:
    """Return how many elements meet in each place; at least one."""
    number = scatter_zeros(zeros_of(src) + 1, index, tuple(x.shape), dim)
    return number + 1 if include_self else where(number == 0, 1, number)


_MANY_ZEROS = (
    "{op}(): Double backward is unsupported for src when >1 zeros in src are scattered to the "
    "same position in self"
)


def _product_slopes(
    g: Any, x: Any, src: Any, index: Any, ans: Any, dim: int, include_self: bool, op: str
) -> tuple[Any, Any]:
    """For products: each factor's gradient is the product of the others, zeros apart."""

    def product(x: Any, src: Any) -> Any:
        return scatter_reduce(x, src, index, dim, "prod", include_self)

    x_safe = where(x == 0, 1, x)
    zero = src == 0
    zeros = gather(scatter_zeros(float_mask(zero, x), index, tuple(x.shape), dim), index, dim)
    only = logical_and(zero, zeros == 1)
    rest = gather(g * product(x, where(only, 1, src)), index, dim)
    g_src = where(only, rest, gather(g * ans, index, dim) / where(zero, 1, src))
    if any_of(zeros > 1):
        g_src = differentiable_once(g_src, _MANY_ZEROS.format(op=op))
    return g * product(x_safe, src) / x_safe, g_src


@op(self=lambda g, message: _refuse(message), node="DelayedError")
def differentiable_once(self, /, message):
    """Return ``self``, whose gradient is an error that says so in ``message``."""
    return np.array(self)


def _refuse(message: str) -> Any:
    raise RuntimeError(message)


@op(
    joint=lambda g, self, src, index, result, dim, reduce, include_self: reduce_slopes(
        g, self, src, index, result, dim, reduce, include_self
    ),
    edges="self src",
    layout="contiguous",
)
def scatter_reduce(self, src, index, /, dim, reduce, include_self=True):
    """Return ``self`` with the elements of ``src`` reduced into the places at ``index``."""
    if reduce == "mean":
        check_not_bool("scatter_gather_tensor_cpu_reduce_mean", self)
    return reduce_along(self, src, index, dim, reduce, include_self)
