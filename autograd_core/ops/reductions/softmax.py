"""Softmax and its logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.dtype import dtype
from autograd_core.op import op, public
from autograd_core.ops.checks import check_implemented, check_one
from autograd_core.ops.pointwise.elementwise import exp
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.shaping.convert import to_dtype
from autograd_core.tensor import Tensor
from autograd_core.tensor.dimensions import wrapped


@public("function method", aliases="special.softmax", out="expect")
def softmax(self: Tensor, dim: int, dtype: dtype | None = None) -> Tensor:
    """Return positive numbers that add up to 1 along ``dim``, in the ratios of ``exp(self)``."""
    return _softmax(self if dtype is None else to_dtype(self, dtype), dim)


@public("function method", aliases="special.log_softmax", out="expect")
def log_softmax(self: Tensor, dim: int, dtype: dtype | None = None) -> Tensor:
    """Return the logarithm of :func:`softmax`, without its underflow."""
    return _log_softmax(self if dtype is None else to_dtype(self, dtype), dim)


@op(
    self=lambda g, result, dim: g - exp(result) * sum_dim(g, dim, True),
    of="log_softmax",
)
def _log_softmax(self, /, dim):
    """Return the logarithm of :func:`softmax`, without its underflow."""
    if not self.size:
        return _nothing(self, dim)
    _check_scores("log_softmax", self, dim)
    shifted = self - np.maximum.reduce(self, dim, keepdims=True)
    total = np.add.reduce(np.exp(shifted), dim, keepdims=True)
    return np.subtract(shifted, np.log(total), out=shifted if shifted.ndim else None)


@op(
    self=lambda g, result, dim: result * (g - sum_dim(g * result, dim, True)),
    of="softmax",
)
def _softmax(self, /, dim):
    """Return positive numbers that add up to 1 along ``dim``, in the ratios of ``exp(self)``."""
    if not self.size:
        return _nothing(self, dim)
    _check_scores("softmax", self, dim)
    powers = np.exp(self - np.maximum.reduce(self, dim, keepdims=True))
    total = np.add.reduce(powers, dim, keepdims=True)
    return np.divide(powers, total, out=powers if powers.ndim else None)


def _nothing(x, dim):
    wrapped(dim, x.ndim)
    return np.array(x)


def _check_scores(name: str, x: Any, dim: int) -> None:
    if type(dim) is not int:
        check_one(name, dim)
    if x.dtype.kind != "f":
        last = dim in (-1, x.ndim - 1, 0) if x.ndim < 2 else dim in (-1, x.ndim - 1)
        check_implemented(f"{name}{'_lastdim' if last else ''}_kernel_impl", x)
