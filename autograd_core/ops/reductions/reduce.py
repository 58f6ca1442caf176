"""Reductions: sums, means, extrema."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import computed_by, op
from autograd_core.ops.pointwise.elementwise import div, where
from autograd_core.ops.shaping.shape import at_least_1d, expand, reshape, stretched
from autograd_core.tensor.size import wrapped_all


def kept_shape(shape: tuple[int, ...], dim: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return ``shape`` after a reduction over ``dim`` that keeps dimensions, as ones."""
    dims = {d % len(shape) for d in ((dim,) if isinstance(dim, int) else dim)} if shape else set()
    return tuple(1 if axis in dims else n for axis, n in enumerate(shape))


def every(shape: tuple[int, ...], dim: Any) -> Any:
    """Return ``dim``, or all dimensions where it is None or empty; none of a 0-d tensor."""
    if dim is None or dim == ():
        return tuple(range(len(shape)))
    if not shape:
        wrapped_all((dim,) if isinstance(dim, int) else dim, 0)
        return ()
    return dim


def sum_backward(g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """Return a reduction's gradient over the elements that were reduced."""
    return expand(g if keepdim else reshape(g, kept_shape(shape, dim)), shape)


@op(
    self=computed_by(
        lambda g, self_shape: stretched(np.asarray(g), self_shape),
        lambda g, self_shape: expand(g, self_shape),
    ),
    linear=True,
    of="sum",
    node="SumBackward0",
)
def sum_all(self, /, dtype=None):
    """Return the sum of all elements. Integers and bools are summed in int64, unless ``dtype`` is
    given."""
    if dtype is None and self.dtype.kind == "f":
        return np.add.reduce(self, None)
    return np.add.reduce(converted(self, dtype), axis=None, dtype=sum_kind(self, dtype))


@op(
    self=lambda g, self_shape, dim, keepdim: sum_backward(g, self_shape, dim, keepdim),
    linear=True,
    of="sum",
    node="SumBackward1",
    layout="contiguous",
)
def sum_dim(self, /, dim, keepdim=False, dtype=None):
    """Return the sum over one dimension, or several."""
    kind = sum_kind(self, dtype)
    return np.add.reduce(converted(self, dtype), axis=dim, dtype=kind, keepdims=keepdim)


def converted(x: Any, dtype: Any) -> Any:
    """Return an array in the dtype that is asked for."""
    return x if dtype is None else x.astype(dtype.dtype, copy=False)


def sum_kind(x: Any, dtype: Any) -> Any:
    """Return what numbers like those of ``x`` add up in; None for their own dtype."""
    if dtype is not None:
        return dtype.dtype
    return np.int64 if x.dtype.kind in "biu" else None


@op(
    self=lambda g, self_shape: expand(g / numel(self_shape), self_shape),
    linear=True,
    of="mean",
    node="MeanBackward0",
)
def mean_all(self, /, dtype=None):
    """Return the mean of all elements."""
    self = converted(self, dtype)
    if self.dtype.itemsize == 2:
        return _half_mean(self, None, False)
    return np.add.reduce(self, axis=None) / self.dtype.type(self.size)


@op(
    self=lambda g, self_shape, dim, keepdim: div(
        sum_backward(g, self_shape, dim, keepdim), numel(self_shape, dim)
    ),
    linear=True,
    of="mean",
    node="MeanBackward1",
    layout="contiguous",
)
def mean_dim(self, /, dim, keepdim=False, dtype=None):
    """Return the mean over one dimension, or several."""
    self = converted(self, dtype)
    if self.dtype.itemsize == 2:
        return _half_mean(self, dim, keepdim)
    total = np.add.reduce(self, axis=dim, keepdims=keepdim)
    return total / self.dtype.type(numel(self.shape, dim))


def _half_mean(x, dim, keepdim):
    """Return the mean of numbers whose sum may be too large for their dtype."""
    total = np.add.reduce(x, axis=dim, keepdims=keepdim, dtype=np.float32)
    return (total / np.float32(numel(x.shape, dim))).astype(x.dtype)


def array_mean(x: Any, dim: Any, dtype: Any, keepdims: Any = False) -> Any:
    """Return the mean of an array, computed in ``dtype``. (``np.mean`` warns of infinities from
    NumPy's own files, where the filter of this package does not hold.)"""
    total = np.add.reduce(x, axis=dim, dtype=dtype, keepdims=keepdims)
    return np.divide(total, numel(x.shape, dim), dtype=dtype)


def numel(shape: tuple[int, ...], dim: int | tuple[int, ...] | None = None) -> int:
    """Return how many elements are reduced into one."""
    if dim is None:
        return math.prod(shape)
    dims = (dim,) if isinstance(dim, int) else dim
    return math.prod([shape[d] for d in dims])


@op(
    self=lambda g, self, result: evenly_distribute_backward(g, self, result),
    of="max",
    node="MaxBackward1",
)
def max_all(self, /):
    """Return the largest element; equal elements share the gradient."""
    check_some("max", self)
    return np.maximum.reduce(self, axis=None)


@op(
    self=lambda g, self, result: evenly_distribute_backward(g, self, result),
    of="min",
    node="MinBackward1",
)
def min_all(self, /):
    """Return the smallest element; equal elements share the gradient."""
    check_some("min", self)
    return np.minimum.reduce(self, axis=None)


def check_not_empty(name: str, x: Any, dim: int) -> None:
    """``x`` has elements along ``dim``, one of which can be picked."""
    if x.ndim and not x.shape[dim]:
        raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")


def check_some(name: str, x: Any) -> None:
    """``x`` has elements, one of which can be picked."""
    if not x.size:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )


def evenly_distribute_backward(g: Any, x: Any, extreme: Any) -> Any:
    """Return ``g``, divided among the elements of ``x`` that equal ``extreme``, or are NaN."""
    mask = x == extreme
    number = int(sum_all(mask))
    if not number:
        mask = x != x
        number = int(sum_all(mask))
    return where(mask, g / max(number, 1), 0)


@op(
    self=lambda g, self_shape, indices, dim, keepdim: put_along(
        g, indices, self_shape, dim, keepdim
    ),
    outputs="values indices",
    nondiff="indices",
    of="max",
    node="MaxBackward0",
    layout="contiguous",
)
def max_dim(self, /, dim, keepdim=False):
    """Return the largest element along ``dim`` and its index (the first of equal ones)."""
    return picked(self, np.expand_dims(np.argmax(at_least_1d(self), dim), dim), dim, keepdim)


@op(
    self=lambda g, self_shape, indices, dim, keepdim: put_along(
        g, indices, self_shape, dim, keepdim
    ),
    outputs="values indices",
    nondiff="indices",
    of="min",
    node="MinBackward0",
    layout="contiguous",
)
def min_dim(self, /, dim, keepdim=False):
    """Return the smallest element along ``dim`` and its index (the first of equal ones)."""
    return picked(self, np.expand_dims(np.argmin(at_least_1d(self), dim), dim), dim, keepdim)


def picked(x: Any, places: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """Return the elements at ``places``, one along ``dim``, and these."""
    values = np.take_along_axis(at_least_1d(x), places, dim)
    if keepdim and x.ndim:
        return values, places
    return np.squeeze(values, dim), np.squeeze(places, dim)


@op(self=lambda g, indices, dim, keepdim: take_along(g, indices, dim, keepdim), linear=True)
def put_along(self, indices, /, shape, dim, keepdim):
    """Return zeros of ``shape`` with ``self`` at ``indices`` along ``dim``."""
    if not shape:
        return np.array(self)
    if not keepdim:
        self, indices = np.expand_dims(self, dim), np.expand_dims(indices, dim)
    result = np.zeros(shape, self.dtype)
    np.put_along_axis(result, indices, self, dim)
    return result


@op(
    self=lambda g, self_shape, indices, dim, keepdim: put_along(
        g, indices, self_shape, dim, keepdim
    ),
    linear=True,
)
def take_along(self, indices, /, dim, keepdim):
    """Return the elements of ``self`` at ``indices`` along ``dim``."""
    if not self.ndim:
        return np.array(self)
    places = indices if keepdim else np.expand_dims(indices, dim)
    values = np.take_along_axis(self, places, dim)
    return values if keepdim else np.squeeze(values, dim)


@op(variants="function method", out="expect")
def argmax(self, /, dim=None, keepdim=False):
    """Return the index of the largest element; without ``dim``, in the flattened tensor."""
    _check_order("argmax", self)
    return np.argmax(self, axis=dim, keepdims=keepdim)


@op(variants="function method", out="expect")
def argmin(self, /, dim=None, keepdim=False):
    """Return the index of the smallest element; without ``dim``, in the flattened tensor."""
    _check_order("argmin", self)
    return np.argmin(self, axis=dim, keepdims=keepdim)


def _check_order(name, x):
    if x.dtype.kind == "b":
        raise RuntimeError(f"{name}(): does not support bool input")
