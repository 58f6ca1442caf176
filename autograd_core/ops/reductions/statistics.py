"""Reductions beyond sum and mean: extrema, variance, truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import op
from autograd_core.ops.pointwise.elementwise import exp, where
from autograd_core.ops.reductions.reduce import (
    array_mean,
    check_some,
    converted,
    every,
    kept_shape,
    mean_dim,
    numel,
    sum_backward,
    sum_dim,
    sum_kind,
)
from autograd_core.ops.shaping.shape import expand, reshape


@op()
def float_mask(mask, self, /):
    """Return the bools ``mask`` as 0 and 1 in the dtype of ``self``."""
    return mask.astype(self.dtype)


def amax_backward(g: Any, x: Any, ans: Any, dim: Any, keepdim: bool) -> Any:
    """Return a reduction's gradient, shared by the elements of ``x`` that equal the result; NaN
    where that is NaN, which equals none."""
    shape = tuple(x.shape)
    dims = every(shape, dim)
    same = float_mask(x == sum_backward(ans, shape, dims, keepdim), x)
    return sum_backward(g, shape, dims, keepdim) * same / sum_dim(same, dims, True)


@op(
    self=lambda g, self, result, dim, keepdim: amax_backward(g, self, result, dim, keepdim),
    layout="contiguous",
)
def amax(self, /, dim=(), keepdim=False):
    """Return the largest elements over some dimensions; equal elements share the gradient."""
    return _extreme("amax", np.maximum, self, dim, keepdim)


@op(
    self=lambda g, self, result, dim, keepdim: amax_backward(g, self, result, dim, keepdim),
    layout="contiguous",
)
def amin(self, /, dim=(), keepdim=False):
    """Return the smallest elements over some dimensions; equal elements share the gradient."""
    return _extreme("amin", np.minimum, self, dim, keepdim)


def _extreme(name, ufunc, x, dim, keepdim):
    if dim == ():
        check_some(name, x)
    return ufunc.reduce(x, axis=every(x.shape, dim), keepdims=keepdim)


@op(
    self=lambda g, self, min, max, dim, keepdim: (
        amax_backward(g[0], self, min, dim, keepdim) + amax_backward(g[1], self, max, dim, keepdim)
    ),
    outputs="min max",
)
def aminmax(self, /, dim=None, keepdim=False):
    """Return the smallest and the largest elements along ``dim``, or of the whole tensor."""
    dims = every(self.shape, dim)
    return (
        np.minimum.reduce(self, axis=dims, keepdims=keepdim),
        np.maximum.reduce(self, axis=dims, keepdims=keepdim),
    )


@op(
    self=lambda g, self, self_shape, dim, keepdim: (
        sum_backward(g, self_shape, every(self_shape, dim), keepdim)
        * float_mask(self == self, self)
    ),
    layout="contiguous",
)
def nansum(self, /, dim=None, keepdim=False, dtype=None):
    """Return the sum of the elements that are not NaN."""
    numbers = np.where(np.isnan(self), 0, self) if self.dtype.kind == "f" else self
    axis, kind = every(self.shape, dim), sum_kind(self, dtype)
    return np.add.reduce(converted(numbers, dtype), axis=axis, dtype=kind, keepdims=keepdim)


# Variance


def variance_slope(g: Any, x: Any, dim: Any, correction: float) -> Any:
    """Return the gradient of ``x`` from that of its variance, which kept its dimensions."""
    shape = tuple(x.shape)
    dims = every(shape, dim)
    freedom = max(numel(shape, dims) - correction, 0)
    apart = x - mean_dim(x, dims, True)
    if freedom:
        return g * apart * (2 / freedom)
    if dim is None or not shape:
        return g * where(apart == 0, math.nan, math.inf)
    return g * apart * math.inf


def deviation_slope(g: Any, x: Any, ans: Any, dim: Any, correction: float) -> Any:
    """Return the gradient of ``x`` from that of its standard deviation; 0 where this is 0."""
    return variance_slope(where(ans == 0, 0, g / (2 * where(ans == 0, 1, ans))), x, dim, correction)


def mean_slope(g: Any, shape: tuple[int, ...], dim: Any) -> Any:
    """Return the gradient of ``x`` from that of its mean, which kept its dimensions."""
    return expand(g / numel(shape, every(shape, dim)), shape)


def restore_reduced_dims(g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """Return ``g`` with the reduced dimensions as ones."""
    return g if keepdim else reshape(g, kept_shape(shape, every(shape, dim)))


def _variance(x, dim, correction, keepdim, name="std and var"):
    if x.dtype.kind != "f":
        raise RuntimeError(f"{name} only support floating point and complex dtypes")
    dims = every(x.shape, dim)
    freedom = max(numel(x.shape, dims) - correction, 0)
    apart = x - array_mean(x, dims, x.dtype, keepdims=True)
    total = np.add.reduce(apart * apart, axis=dims, keepdims=keepdim)
    return np.divide(total, freedom, dtype=x.dtype)


@op(
    self=lambda g, self, self_shape, dim, correction, keepdim: variance_slope(
        restore_reduced_dims(g, self_shape, dim, keepdim), self, dim, correction
    ),
    layout="contiguous",
)
def var(self, /, dim=None, correction=1, keepdim=False):
    """Return the variance: squared distances from the mean over ``count - correction``."""
    return _variance(self, dim, correction, keepdim)


@op(
    self=lambda g, self, self_shape, result, dim, correction, keepdim: deviation_slope(
        restore_reduced_dims(g, self_shape, dim, keepdim),
        self,
        restore_reduced_dims(result, self_shape, dim, keepdim),
        dim,
        correction,
    ),
    layout="contiguous",
)
def std(self, /, dim=None, correction=1, keepdim=False):
    """Return the standard deviation."""
    return np.sqrt(_variance(self, dim, correction, keepdim))


@op(
    self=lambda g, self, self_shape, dim, correction, keepdim: (
        variance_slope(restore_reduced_dims(g[0], self_shape, dim, keepdim), self, dim, correction)
        + mean_slope(restore_reduced_dims(g[1], self_shape, dim, keepdim), self_shape, dim)
    ),
    outputs="result0 result1",
    layout="contiguous",
)
def var_mean(self, /, dim=None, correction=1, keepdim=False):
    """Return the variance and the mean."""
    variance = _variance(self, dim, correction, keepdim, "var_mean")
    return variance, array_mean(self, every(self.shape, dim), self.dtype, keepdim)


@op(
    self=lambda g, self, self_shape, result0, dim, correction, keepdim: (
        deviation_slope(
            restore_reduced_dims(g[0], self_shape, dim, keepdim),
            self,
            restore_reduced_dims(result0, self_shape, dim, keepdim),
            dim,
            correction,
        )
        + mean_slope(restore_reduced_dims(g[1], self_shape, dim, keepdim), self_shape, dim)
    ),
    outputs="result0 result1",
    layout="contiguous",
)
def std_mean(self, /, dim=None, correction=1, keepdim=False):
    """Return the standard deviation and the mean."""
    deviation = np.sqrt(_variance(self, dim, correction, keepdim, "std_mean"))
    return deviation, array_mean(self, every(self.shape, dim), self.dtype, keepdim)


@op(
    self=lambda g, self, self_shape, result, dim, keepdim: (
        expand(restore_reduced_dims(g, self_shape, dim, keepdim), self_shape)
        * exp(self - restore_reduced_dims(result, self_shape, dim, keepdim))
    ),
    layout="contiguous",
)
def logsumexp(self, /, dim, keepdim=False):
    """Return ``log(sum(exp(self)))`` over ``dim``, without overflow."""
    if self.dtype.kind != "f":
        self = self.astype(np.float32)
    dims = every(self.shape, dim)
    top = np.maximum.reduce(self, axis=dims, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0).astype(self.dtype)
    result = np.log(np.add.reduce(np.exp(self - top), axis=dims, keepdims=True)) + top
    return result if keepdim else np.squeeze(result, dims)


# Truth


def _some(shape, dim):
    return () if dim == () else every(shape, dim)


def _truth(result, x):
    return result.astype(np.uint8) if x.dtype == np.uint8 else result


@op(variants="function method", out="flag", layout="contiguous")
def all(self, /, dim=None, keepdim=False):
    """Return whether all elements along ``dim`` are nonzero; with an empty ``dim``, whether each
    one is."""
    return _truth(np.all(self, axis=_some(self.shape, dim), keepdims=keepdim), self)


@op(variants="function method", out="flag", layout="contiguous")
def any(self, /, dim=None, keepdim=False):
    """Return whether any element along ``dim`` is nonzero; with an empty ``dim``, whether each one
    is."""
    return _truth(np.any(self, axis=_some(self.shape, dim), keepdims=keepdim), self)


@op(variants="function method", layout="contiguous")
def count_nonzero(self, /, dim=None):
    """Return the number of nonzero elements along ``dim``."""
    return np.count_nonzero(self, axis=every(self.shape, dim))
