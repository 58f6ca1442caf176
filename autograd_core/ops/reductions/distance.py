"""Distances between tensors and between points, and slices of limited length."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import op
from autograd_core.op.refusals import no_common_shape, no_difference
from autograd_core.ops.checks import check_implemented, check_same_dtype, promoted, scalar_name
from autograd_core.ops.indices.index import index, index_put
from autograd_core.ops.pointwise.elementwise import where
from autograd_core.ops.reductions.norms import vector_norm, vector_norm_backward
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.shaping.shape import unsqueeze
from autograd_core.tensor.size import wrapped


@op(
    joint=lambda g, self, other, result, p: _both(
        vector_norm_backward(g, self - other, result, p, None, False)
    ),
    edges="self other",
    broadcasts="self other",
    variants="function method",
)
def dist(self, other, /, p: float = 2.0):
    """Return the ``p``-norm of the difference."""
    if "b" in (self.dtype.kind, other.dtype.kind):
        raise no_difference((self, other))
    self, other = promoted(self, other)
    if self.dtype.kind != "f":
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{scalar_name(self)} instead."
        )
    try:
        apart = np.subtract(self, other)
    except ValueError:
        raise no_common_shape((self.shape, other.shape)) from None
    return vector_norm(apart, p)


def _both(slope: Any) -> tuple[Any, Any]:
    return slope, -slope


@op(
    self=lambda g, self, p, dim, maxnorm: renorm_slope(g, self, p, dim, maxnorm),
    layout="contiguous",
    variants="function method inplace",
    out="expect",
)
def renorm(self, /, p: float, dim: int, maxnorm: float):
    """Return ``self`` with the slices of ``dim`` scaled down to a ``p``-norm of at most
    ``maxnorm``."""
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    norm = vector_norm(self, p, _others(self.ndim, dim), True)
    scale = np.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1)
    return np.multiply(self, scale, dtype=self.dtype)


def _others(rank: int, dim: int) -> tuple[int, ...]:
    along = wrapped(dim, rank)
    return tuple(other for other in range(rank) if other != along)


def renorm_slope(g: Any, x: Any, p: float, dim: int, maxnorm: float) -> Any:
    """Return the gradient of :func:`renorm`: of a product, where a slice was scaled."""
    dims = _others(len(x.shape), dim)
    norm = vector_norm(x, p, dims, True)
    inverse = 1 / (norm + 1e-7)
    outward = vector_norm_backward(sum_dim(g * x, dims, True), x, norm, p, dims, True)
    return where(norm > maxnorm, maxnorm * inverse * (g - inverse * outward), g)


@op(
    x1=lambda g, x1, x2, result, p: sum_dim(cdist_slopes(g, x1, x2, result, p), -2),
    x2=lambda g, x1, x2, result, p: -sum_dim(cdist_slopes(g, x1, x2, result, p), -3),
    broadcasts="x1 x2",
    layout="contiguous",
)
def cdist(x1, x2, /, p=2.0, compute_mode=None):
    """Return the distances of each of the points ``x1`` (n, d) from each of ``x2`` (m, d): (n, m).

    Batches broadcast.
    """
    for name, points in (("X1", x1), ("X2", x2)):
        if points.dtype.kind != "f":
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {scalar_name(points)}"
            )
    check_same_dtype(x1, x2)
    check_implemented("cdist", x1, half=False)
    for name, points in (("X1", x1), ("X2", x2)):
        if points.ndim < 2:
            raise RuntimeError(
                f"cdist only supports at least 2D tensors, {name} got: {points.ndim}D"
            )
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    try:
        apart = x1[..., :, None, :] - x2[..., None, :, :]
    except ValueError:
        raise no_common_shape((x1.shape[:-2], x2.shape[:-2])) from None
    if not x1.shape[-1]:
        return np.zeros(apart.shape[:-1], x1.dtype)
    return vector_norm(apart, p, -1)


def cdist_slopes(g: Any, x: Any, y: Any, ans: Any, p: float) -> Any:
    """Return the gradients of all differences between points, (..., n, m, d)."""
    apart = unsqueeze(x, -2) - unsqueeze(y, -3)
    return vector_norm_backward(g, apart, _beside_zero(ans, p), p, -1, False)


def _beside_zero(distances: Any, p: float) -> Any:
    """Return ``distances``, but 1 between points in one place: that they have second derivatives,
    too."""
    return distances if math.isinf(p) else where(distances == 0, 1, distances)


@op(self=lambda g, self, result, self_shape, p: pdist_slopes(g, self, result, self_shape, p))
def pdist(self, /, p=2.0):
    """Return the distances of all pairs of the points ``self`` (n, d), n * (n - 1) / 2 of them."""
    if self.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {self.ndim}D")
    if self.dtype.kind != "f":
        raise RuntimeError("pdist only supports floating-point dtypes")
    check_implemented("pdist", self, half=False)
    first, second = _pairs(len(self))
    return vector_norm(self[first] - self[second], p, -1)


def _pairs(count: int) -> tuple[Any, Any]:
    first, second = np.triu_indices(count, 1)
    return first, second


def pdist_slopes(g: Any, x: Any, ans: Any, shape: tuple[int, ...], p: float) -> Any:
    """Return the gradient of :func:`pdist`: what each distance says, for its one end and the
    other."""
    first, second = _pairs(shape[0])
    apart = index(x, (first,)) - index(x, (second,))
    slopes = vector_norm_backward(g, apart, _beside_zero(ans, p), p, -1, False)
    return index_put(slopes, shape, (first,)) - index_put(slopes, shape, (second,))
