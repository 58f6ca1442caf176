"""Norms and products of vectors along a dimension."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import op
from autograd_core.ops.algebra.matrices import check_floating
from autograd_core.ops.checks import check_factors, check_not_bool, check_same_dtype
from autograd_core.ops.pointwise.elementwise import abs, sgn, where, zeros_of
from autograd_core.ops.pointwise.logic import isnan, logical_or
from autograd_core.ops.reductions.reduce import every, kept_shape, sum_dim
from autograd_core.ops.reductions.statistics import float_mask
from autograd_core.ops.shaping.shape import reshape
from autograd_core.tensor.size import wrapped


@op(
    self=lambda g, self, result, ord, dim, keepdim: vector_norm_backward(
        g, self, result, ord, dim, keepdim
    ),
    node="LinalgVectorNormBackward0",
    layout="contiguous",
)
def vector_norm(self, /, ord=2, dim=None, keepdim=False, dtype=None):
    """Return ``sum(abs(self) ** ord) ** (1 / ord)``; for infinite ``ord`` the largest or smallest
    magnitude; for 0 the number of nonzero elements."""
    if self.dtype.kind != "f":
        check_floating("linalg.vector_norm", self)
    dim, kind = every(self.shape, dim), self.dtype if dtype is None else dtype.dtype
    if dtype is None and kind.itemsize > 2:
        return _norm(self, ord, dim, keepdim)
    wide = np.result_type(kind, np.float32)  # half numbers add up in single ones
    return np.asarray(_norm(self.astype(wide, copy=False), ord, dim, keepdim), kind)


def _norm(x, ord, dim, keepdim):
    if ord == 2:
        return np.sqrt(np.add.reduce(np.square(x), dim, keepdims=keepdim))
    if ord == 0:
        return np.add.reduce(x != 0, dim, keepdims=keepdim, dtype=x.dtype)
    size = np.abs(x)
    if ord == 1:
        return np.add.reduce(size, dim, keepdims=keepdim)
    if not x.size and (ord < 0 or math.isinf(ord)):
        _check_some(x.shape, ord, dim)
    if math.isinf(ord):
        extreme = np.maximum if ord > 0 else np.minimum
        return extreme.reduce(size, dim, keepdims=keepdim)
    return np.power(np.add.reduce(np.power(size, ord), dim, keepdims=keepdim), 1 / ord)


def _check_some(shape: tuple[int, ...], ord: float, dim: Any) -> None:
    """Nothing has no largest element."""
    for axis in (dim,) if isinstance(dim, int) else dim:
        if not shape[axis]:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {ord:g} norm on the dimension {axis}"
                "because this dimension is empty and the operation does not have an identity"
            )


def vector_norm_backward(g: Any, x: Any, norm: Any, ord: float, dim: Any, keepdim: bool) -> Any:
    """Return the gradient of the vectors; 0 where the norm has a kink."""
    shape = tuple(x.shape)
    dim = every(shape, dim)
    kept = kept_shape(shape, dim)
    g, norm = reshape(g, kept), reshape(norm, kept)
    if ord == 0:
        return zeros_of(x)
    if ord == 1:
        return sgn(x) * g
    if ord == 2:
        return x * (g / norm) if norm.all() else g * where(norm == 0, 0, x / norm)
    size = abs(x)
    if math.isinf(ord):
        mask = float_mask(logical_or(size == norm, isnan(size)), x)
        return sgn(x) * (g / sum_dim(mask, dim, True) * mask)
    if ord < 1:
        return where(x == 0, 0, sgn(x) * size ** (ord - 1)) * g * norm ** (1 - ord)
    powers = sgn(x) * size ** (ord - 1) if ord < 2 else x * size ** (ord - 2)
    return powers * where(norm == 0, 0, g / norm ** (ord - 1))


@op(
    self=lambda g, other, dim: cross(other, g, dim),
    other=lambda g, self, dim: cross(g, self, dim),
    linear=True,
    broadcasts="self other",
    node="LinalgCrossBackward0",
)
def cross(self, other, /, dim=-1):
    """Return the cross product of vectors of three elements along ``dim``."""
    if self.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    check_same_dtype(self, other)
    check_not_bool("cross", self)
    wrapped(dim, self.ndim, of_scalars=False)
    if self.shape[dim] != 3 or other.shape[dim] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {self.shape[dim]} and "
            f"{other.shape[dim]}"
        )
    return np.cross(self, other, axis=dim)


@op(
    self=lambda g, other: g * other,
    other=lambda g, self: g * self,
    linear=True,
    variants="function method",
    out="expect",
)
def vdot(self, other, /):
    """Return the inner product of two vectors."""
    check_factors(self, other)
    return np.vdot(self, other)
