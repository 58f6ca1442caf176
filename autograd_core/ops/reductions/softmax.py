"""Softmax and its logarithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autograd_core.dtype import dtype
from autograd_core.op import computed_by, op, public
from autograd_core.op.blocks import memory, ones, row_blocks
from autograd_core.op.buffering import short_buffers
from autograd_core.ops.checks import check_implemented, check_one
from autograd_core.ops.pointwise.elementwise import exp
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.shaping.convert import to_dtype
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped


@public("function method", aliases="special.softmax", out="expect")
def softmax(self: Tensor, dim: int, dtype: dtype | None = None) -> Tensor:
    """Return ``exp(self) / exp(self).sum(dim)``: positive numbers that sum to 1 along ``dim``."""
    return _softmax(self if dtype is None else to_dtype(self, dtype), dim)


@public("function method", aliases="special.log_softmax", out="expect")
def log_softmax(self: Tensor, dim: int, dtype: dtype | None = None) -> Tensor:
    """Return the logarithm of :func:`softmax`, without underflow."""
    return _log_softmax(self if dtype is None else to_dtype(self, dtype), dim)


@op(
    self=computed_by(
        lambda g, result, dim: _log_softmax_gradient(g, result, dim),
        lambda g, result, dim: g - exp(result) * sum_dim(g, dim, True),
    ),
    of="log_softmax",
    layout="contiguous",
)
def _log_softmax(self, /, dim):
    """Return the logarithm of :func:`softmax`, without underflow."""
    if not self.size:
        return _nothing(self, dim)
    _check_scores("log_softmax", self, dim)
    if _in_rows(self, dim):
        return _by_rows(_log_softmax_rows, self)
    shifted = self - np.maximum.reduce(self, dim, keepdims=True)
    total = np.add.reduce(np.exp(shifted), dim, keepdims=True)
    return np.subtract(shifted, np.log(total), out=shifted if shifted.ndim else None)


@op(
    self=computed_by(
        lambda g, result, dim: _softmax_gradient(g, result, dim),
        lambda g, result, dim: result * (g - sum_dim(g * result, dim, True)),
    ),
    of="softmax",
    layout="contiguous",
)
def _softmax(self, /, dim):
    """Return ``exp(self) / exp(self).sum(dim)``: positive numbers that sum to 1 along ``dim``."""
    if not self.size:
        return _nothing(self, dim)
    _check_scores("softmax", self, dim)
    if _in_rows(self, dim):
        return _by_rows(_softmax_rows, self)
    powers = np.exp(self - np.maximum.reduce(self, dim, keepdims=True))
    total = np.add.reduce(powers, dim, keepdims=True)
    return np.divide(powers, total, out=powers if powers.ndim else None)


# Of large arrays some rows at a time, which stay in the cache from pass to pass.

_LARGE: Final = 1 << 15  # elements
_HIGHEST: Final = 1e20  # sums of powers that have lost nothing to overflow
_LOWEST: Final = 1e-20  # nor to underflow


def _in_rows(x: Any, dim: int) -> bool:
    """Return whether ``dim`` is the last one of a large array of floats."""
    return (
        x.size > _LARGE
        and dim in (-1, x.ndim - 1)
        and x.dtype.kind == "f"
        and x.itemsize > 2
        and x.flags.c_contiguous
    )


def _by_rows(compute: Callable[..., None], *arrays: Any) -> Any:
    """Return what ``compute(out, spare, *rows)`` makes of the rows of arrays."""
    x = arrays[0]
    rows = [array.reshape(-1, x.shape[-1]) for array in arrays]
    result = np.empty(rows[0].shape, x.dtype)
    parts = row_blocks(result)
    lent = memory(1, result[parts[0]].shape, x.dtype)
    with short_buffers(x.shape[-1]), np.errstate(all="ignore"), lent as (spare,):
        for part in parts:
            out = result[part]
            compute(out, spare[: len(out)], *(row[part] for row in rows))
    return result.reshape(x.shape)


def _powers(out: Any, x: Any) -> tuple[Any, Any]:
    """Compute ``exp(x - shift)``; return the sums of its rows, and the shift.

    It is 0 unless powers got too large or small, as their sums tell: looking for the largest of
    each row takes as long as the powers.
    """
    total = np.exp(x, out) @ ones(x.shape[1], x.dtype)
    if np.minimum.reduce(total) >= _LOWEST and np.maximum.reduce(total) <= _HIGHEST:
        return total, None
    shift = np.maximum.reduce(x, 1, keepdims=True)
    np.exp(np.subtract(x, shift, out), out)
    return out @ ones(x.shape[1], x.dtype), shift


def _softmax_rows(out: Any, powers: Any, x: Any) -> None:
    total, _ = _powers(powers, x)
    np.multiply(powers, np.divide(1, total, total)[:, None], out)


def _log_softmax_rows(out: Any, powers: Any, x: Any) -> None:
    total, shift = _powers(powers, x)
    level = np.log(total, total)[:, None]
    if shift is None:
        np.subtract(x, level, out)
    else:
        np.subtract(x, shift, out)
        out -= level


def _softmax_gradient(g: Any, result: Any, dim: int) -> Any:
    if _in_rows(result, dim):
        return _by_rows(_softmax_slopes, result, g)
    return result * (g - np.add.reduce(g * result, dim, keepdims=True))


def _softmax_slopes(out: Any, spare: Any, result: Any, g: Any) -> None:
    np.subtract(g, np.vecdot(g, result)[:, None], spare)
    np.multiply(spare, result, out)


def _log_softmax_gradient(g: Any, result: Any, dim: int) -> Any:
    if _in_rows(result, dim):
        return _by_rows(_log_softmax_slopes, result, g)
    return g - np.exp(result) * np.add.reduce(g, dim, keepdims=True)


def _log_softmax_slopes(out: Any, spare: Any, result: Any, g: Any) -> None:
    np.exp(result, spare)
    spare *= (g @ ones(g.shape[1], g.dtype))[:, None]
    np.subtract(g, spare, out)


def _nothing(x, dim):
    wrapped(dim, x.ndim)
    return np.array(x)


def _check_scores(name: str, x: Any, dim: int) -> None:
    if type(dim) is not int:
        check_one(name, dim)
    if x.dtype.kind != "f":
        last = dim in (-1, x.ndim - 1, 0) if x.ndim < 2 else dim in (-1, x.ndim - 1)
        check_implemented(f"{name}{'_lastdim' if last else ''}_kernel_impl", x)
