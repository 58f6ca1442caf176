"""Running sums, products and extrema along a dimension, and products over it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np

from autograd_core import return_types
from autograd_core.dtype import bool_
from autograd_core.op import computed_by, op
from autograd_core.op.blocks import memory, row_blocks
from autograd_core.ops.checks import check_implemented, check_one
from autograd_core.ops.indices.scatter import scatter_zeros
from autograd_core.ops.pointwise.elementwise import exp, zeros_of
from autograd_core.ops.reductions.reduce import converted, kept_shape, sum_dim, sum_kind
from autograd_core.ops.reductions.statistics import all as all_of
from autograd_core.ops.shaping.diagonals import diag_embed, tril, triu
from autograd_core.ops.shaping.rearrange import flip
from autograd_core.ops.shaping.shape import at_least_1d, expand, reshape, transpose, unsqueeze


@op(
    self=computed_by(lambda g, dim: _sums_from(g, dim), lambda g, dim: sums_from(g, dim)),
    linear=True,
    layout="contiguous",
)
def cumsum(self, /, dim, dtype=None):
    """Return cumulative sums along ``dim``. Integers and bools are summed in int64, unless
    ``dtype`` is given."""
    if dtype is None and _in_groups(self, dim):
        return _sums_of_rows(self, backwards=False)
    return _running("cumsum", np.add, self, dim, dtype)


def _running(name, ufunc, x, dim, dtype):
    check_one(name, dim)
    if dtype is bool_:
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")
    x, kind = converted(x, dtype), sum_kind(x, dtype)
    row = x if x.ndim else x.reshape(1)
    if x.dtype == np.float16:  # rounded once, not at every step
        return ufunc.accumulate(row, dim, np.float32).astype(x.dtype).reshape(x.shape)
    return ufunc.accumulate(row, dim, kind).reshape(x.shape)


def sums_from(g: Any, dim: int) -> Any:
    """For each place the sum from there to the end."""
    return flip(cumsum(flip(g, (dim,)), dim), (dim,))


def _sums_from(g: Any, dim: int) -> Any:
    """:func:`sums_from` of arrays, without two copies that are turned round."""
    if not g.ndim or g.itemsize == 2:
        return sums_from(g, dim)
    if _in_groups(g, dim):
        return _sums_of_rows(g, backwards=True)
    result = np.empty(g.shape, g.dtype)
    backwards = (..., slice(None, None, -1), *(slice(None),) * (g.ndim - 1 - dim % g.ndim))
    np.add.accumulate(g[backwards], dim, None, result[backwards])
    return result


# Each element of a running sum waits for the one before.  So long rows are cut into groups, whose
# sums are a product with a triangle of ones: half of the time, and half of the error.

_LARGE: Final = 1 << 15  # elements
_GROUP: Final = 32
_FLOATS: Final = (np.dtype(np.float32), np.dtype(np.float64))


def _in_groups(x: Any, dim: int) -> bool:
    return (
        x.size > _LARGE
        and dim in (-1, x.ndim - 1)
        and not x.shape[-1] % _GROUP
        and x.dtype in _FLOATS
        and x.flags.c_contiguous
    )


@lru_cache(maxsize=4)
def _triangle(kind: Any, backwards: bool) -> Any:
    return (np.tril if backwards else np.triu)(np.ones((_GROUP, _GROUP), kind))


def _sums_of_rows(x: Any, backwards: bool) -> Any:
    """Return running sums along the last dimension, from the end if ``backwards``."""
    rows = x.reshape(-1, x.shape[-1])
    result = np.empty(rows.shape, x.dtype)
    triangle, parts = _triangle(x.dtype, backwards), row_blocks(rows)
    with memory(1, rows[parts[0]].shape, x.dtype) as (spare,), np.errstate(all="ignore"):
        for part in parts:
            some, out = rows[part], result[part]
            shape = (len(some), -1, _GROUP)
            own = spare[: len(some)]
            np.matmul(some.reshape(-1, _GROUP), triangle, own.reshape(-1, _GROUP))
            ends = own.reshape(shape)[:, :, 0 if backwards else -1]
            if not np.isfinite(ends).all():  # a product takes a NaN to all of its group
                _add_up(some, out, backwards)
                continue
            before = np.zeros(ends.shape, x.dtype)
            if ends.shape[1] > 1:
                _add_up(
                    ends[:, 1:] if backwards else ends[:, :-1],
                    before[:, :-1] if backwards else before[:, 1:],
                    backwards,
                )
            np.add(own.reshape(shape), before[:, :, None], out.reshape(shape))
    return result.reshape(x.shape)


def _add_up(x: Any, out: Any, backwards: bool) -> None:
    order = slice(None, None, -1 if backwards else 1)
    np.add.accumulate(x[:, order], 1, None, out[:, order])


@op(self=lambda g, self, result, dim: cumprod_slope(g, self, result, dim), layout="contiguous")
def cumprod(self, /, dim, dtype=None):
    """Return cumulative products along ``dim``."""
    return _running("cumprod", np.multiply, self, dim, dtype)


def cumprod_slope(g: Any, x: Any, ans: Any, dim: int) -> Any:
    """Return the gradient of :func:`cumprod`; without division where there are zeros."""
    if not x.ndim:
        return g
    if all_of(x):
        return sums_from(g * ans, dim) / x
    later = triu(cumprod(but_one(x, dim), -1) * unsqueeze(transpose(g, dim, -1), -2))
    return transpose(sum_dim(later, -1), dim, -1)


def but_one(x: Any, dim: int) -> Any:
    """For each element along ``dim`` its row, with a 1 in its own place, as last dimension."""
    rows = transpose(x, dim, -1)
    length = rows.shape[-1]
    square = expand(unsqueeze(rows, -2), (*tuple(rows.shape[:-1]), length, length))
    return triu(square, 1) + tril(square, -1) + diag_embed(zeros_of(rows) + 1)


@op(
    self=lambda g, self, self_shape, result: reshape(
        prod_slope(g, reshape(self, (-1,)), result, 0), self_shape
    ),
    of="prod",
    node="ProdBackward0",
)
def prod_all(self, /, dtype=None):
    """Return the product of all elements."""
    return np.multiply.reduce(converted(self, dtype), axis=None, dtype=sum_kind(self, dtype))


@op(
    self=lambda g, self, self_shape, result, dim, keepdim: prod_slope(
        g if keepdim else reshape(g, kept_shape(self_shape, dim)),
        self,
        result if keepdim else reshape(result, kept_shape(self_shape, dim)),
        dim,
    ),
    of="prod",
    node="ProdBackward1",
    layout="contiguous",
)
def prod_dim(self, /, dim, keepdim=False, dtype=None):
    """Return the product along ``dim``."""
    kind = sum_kind(self, dtype)
    return np.multiply.reduce(converted(self, dtype), axis=dim, dtype=kind, keepdims=keepdim)


def prod_slope(g: Any, x: Any, ans: Any, dim: int) -> Any:
    """Return the gradient of a product, which kept its dimension; without division where there are
    zeros."""
    if not x.ndim:
        return g
    if all_of(x):
        return g * ans / x
    return g * transpose(prod_dim(but_one(x, dim), -1), dim, -1)


_EXTREMA: dict[str, Any] = {
    "self": lambda g, indices, self_shape, dim: scatter_zeros(g, indices, self_shape, dim),
    "outputs": "values indices",
    "nondiff": "indices",
    "layout": "contiguous",
    "variants": "function method",
    "out": "expect",
}


@op(
    **_EXTREMA,
    named=return_types.cummax,
)
def cummax(self, /, dim: int):
    """Return the cumulative maximum along ``dim`` and its index (the last of equal ones)."""
    return _extrema(self, np.maximum, dim)


@op(
    **_EXTREMA,
    named=return_types.cummin,
)
def cummin(self, /, dim: int):
    """Return the cumulative minimum along ``dim`` and its index (the last of equal ones)."""
    return _extrema(self, np.minimum, dim)


def _extrema(x, ufunc, dim):
    name = "cummax" if ufunc is np.maximum else "cummin"
    check_one(name, dim)
    if not x.ndim:
        if dim not in (0, -1):
            raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
        return np.array(x), np.zeros((), np.int64)
    values = ufunc.accumulate(x, axis=dim)
    shape = [1] * x.ndim
    shape[dim] = -1
    own = np.arange(x.shape[dim]).reshape(shape)
    here = (x == values) | np.isnan(x)
    return values, np.maximum.accumulate(np.where(here, own, 0), axis=dim)


@op(
    self=lambda g, self, result, dim: logcumsumexp_slope(g, self, result, dim),
    variants="function method",
    out="expect",
    layout="contiguous",
)
def logcumsumexp(self, /, dim):
    """Return ``log(cumsum(exp(self)))`` along ``dim``, without overflow."""
    check_one("logcumsumexp", dim)
    check_implemented("logcumsumexp_out_cpu", self)
    return np.logaddexp.accumulate(at_least_1d(self), axis=dim).reshape(self.shape)


def logcumsumexp_slope(g: Any, x: Any, ans: Any, dim: int) -> Any:
    """Return the share of each element in all sums from there on, weighted by their gradients.

    Each pair by itself: a running sum of ``g * exp(-ans)`` would overflow.
    """
    shape = tuple(x.shape)
    g, x, ans = (transpose(at_least_1d(t), dim, -1) for t in (g, x, ans))
    shares = triu(exp(triu(unsqueeze(x, -1) - unsqueeze(ans, -2)))) * unsqueeze(g, -2)
    return reshape(transpose(sum_dim(shares, -1), dim, -1), shape)
