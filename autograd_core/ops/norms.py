"""Norms and products of vectors along a dimension."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import Sample, op
from autograd_core.ops.assign import zeros_of
from autograd_core.ops.elementwise import abs, sign, where
from autograd_core.ops.matrices import check_floating
from autograd_core.ops.reduce import kept_shape, spread, sum_dim
from autograd_core.ops.shape import reshape


@op(
    x=lambda g, x, ans, ord, dim, keepdim: vector_norm_backward(g, x, ans, ord, dim, keepdim),
    node="LinalgVectorNormBackward0",
    samples=(
        Sample(((2, 3),)),
        Sample(((2, 3),), {"ord": 1, "dim": 1}),
        Sample(((2, 3),), {"ord": 3, "dim": 0, "keepdim": True}),
        Sample(((2, 3),), {"ord": 1.5, "dim": (0, 1)}),
        Sample(((2, 3),), {"ord": math.inf, "dim": -1}),
        Sample(((2, 3),), {"ord": -math.inf}),
    ),
)
def vector_norm(x, /, ord=2, dim=None, keepdim=False):
    """``sum(abs(x) ** ord) ** (1 / ord)``; the largest or smallest for infinity; for 0 the
    number of elements that are not zero."""
    if x.dtype.kind != "f":
        check_floating("linalg.vector_norm", x)
    if ord == 2:
        return np.sqrt(np.add.reduce(np.square(x), dim, keepdims=keepdim))
    if ord == 0:
        return np.add.reduce(x != 0, dim, keepdims=keepdim, dtype=x.dtype)
    size = np.abs(x)
    if ord == 1:
        return np.add.reduce(size, dim, keepdims=keepdim)
    if math.isinf(ord):
        extreme = np.maximum if ord > 0 else np.minimum
        return extreme.reduce(size, dim, keepdims=keepdim)
    return np.power(np.add.reduce(np.power(size, ord), dim, keepdims=keepdim), 1 / ord)


def vector_norm_backward(g: Any, x: Any, norm: Any, ord: float, dim: Any, keepdim: bool) -> Any:
    """The gradient of the vectors; 0 where the norm has a kink."""
    shape = tuple(x.shape)
    dim = tuple(range(len(shape))) if dim is None else dim
    kept = kept_shape(shape, dim)
    g, norm = reshape(g, kept), reshape(norm, kept)
    if ord == 0:
        return zeros_of(x)
    if ord == 1:
        return sign(x) * g
    if ord == 2:
        return x * where(norm == 0, 0, g / where(norm == 0, 1, norm))
    if math.isinf(ord):
        found = abs(x) == norm
        share = g / sum_dim(where(found, abs(x) * 0 + 1, 0), dim, True)
        return sign(x) * where(found, spread(share, shape, dim, True), 0)
    size = abs(x)
    inside = where(size == 0, 1, size)
    scale = where(norm == 0, 0, g / where(norm == 0, 1, norm) ** (ord - 1))
    return where(size == 0, 0, sign(x) * inside ** (ord - 1)) * scale


@op(
    x=lambda g, y, dim: cross(y, g, dim),
    y=lambda g, x, dim: cross(g, x, dim),
    linear=True,
    broadcasts="x y",
    node="LinalgCrossBackward0",
    samples=(Sample(((2, 3), (2, 3))), Sample(((3, 2), (3, 1)), {"dim": 0})),
)
def cross(x, y, /, dim=-1):
    """The vector at right angles to both, for vectors of three elements along ``dim``."""
    if x.ndim != y.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if x.shape[dim] != 3 or y.shape[dim] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {x.shape[dim]} and "
            f"{y.shape[dim]}"
        )
    return np.cross(x, y, axis=dim)


@op(
    x=lambda g, y: g * y,
    y=lambda g, x: g * x,
    linear=True,
    samples=(Sample(((3,), (3,))),),
)
def vdot(x, y, /):
    """Inner product of two vectors."""
    return np.vdot(x, y)
