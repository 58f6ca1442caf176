"""Medians, modes and the like: one element is picked, and gets the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core import return_types
from autograd_core.op import op
from autograd_core.ops.checks import check_not_bool
from autograd_core.ops.reductions.reduce import (
    check_not_empty,
    evenly_distribute_backward,
    picked,
    put_along,
)
from autograd_core.ops.shaping.shape import at_least_1d
from autograd_core.tensor.size import wrapped

_PICKED: dict[str, Any] = {
    "self": lambda g, self_shape, indices, dim, keepdim: put_along(
        g, indices, self_shape, dim, keepdim
    ),
    "outputs": "values indices",
    "nondiff": "indices",
}


@op(
    self=lambda g, self, result: evenly_distribute_backward(g, self, result),
    of="median",
    node="MedianBackward0",
)
def median_all(self, /):
    """Return the lower median; NaN if any element is NaN."""
    check_not_bool("median_cpu", self)
    flat = np.sort(self, axis=None)  # NaN comes last
    if not flat.size or np.isnan(flat[-1]):
        return np.array(np.nan).astype(self.dtype)
    return flat[(flat.size - 1) // 2]


@op(
    self=lambda g, self, result: evenly_distribute_backward(g, self, result),
    of="nanmedian",
    node="NanmedianBackward0",
)
def nanmedian_all(self, /):
    """Return the lower median of the elements that are not NaN."""
    check_not_bool("median_cpu", self)
    flat = np.sort(self, axis=None)
    number = int(np.count_nonzero(~np.isnan(flat)))
    return flat[(number - 1) // 2] if number else np.array(np.nan).astype(self.dtype)


@op(
    **_PICKED,
    variants="function method",
    out="expect",
    named=return_types.kthvalue,
)
def kthvalue(self, /, k: int, dim: int = -1, keepdim: bool = False):
    """Return the ``k``-th smallest element along ``dim`` and its index."""
    check_not_bool("kthvalue_cpu", self)
    rows, along = at_least_1d(self), wrapped(dim, self.ndim)
    check_not_empty("kthvalue", self, along)
    if not 1 <= k <= rows.shape[along]:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {along}")
    order = np.argsort(rows, along, stable=True)
    return picked(self, np.take(order, [k - 1], along), along, keepdim)


@op(
    **_PICKED,
    of="median",
    node="MedianBackward1",
)
def median_dim(self, /, dim, keepdim=False):
    """Return the lower median along ``dim`` and its index; NaN if any element is NaN."""
    check_not_bool("median_out", self)
    rows = at_least_1d(self)
    check_not_empty("median", self, dim)
    order = np.argsort(rows, dim, stable=True)
    places = np.take(order, [(rows.shape[dim] - 1) // 2], dim)
    strange = np.isnan(rows)
    first = np.expand_dims(np.argmax(strange, dim), dim)
    places = np.where(np.any(strange, axis=dim, keepdims=True), first, places)
    return picked(self, places, dim, keepdim)


@op(
    **_PICKED,
    of="nanmedian",
    node="NanmedianBackward1",
)
def nanmedian_dim(self, /, dim, keepdim=False):
    """Return the lower median along ``dim`` of the elements that are not NaN, and its index."""
    check_not_bool("median_out", self)
    rows = at_least_1d(self)
    check_not_empty("nanmedian", self, dim)
    number = np.sum(~np.isnan(rows), axis=dim, keepdims=True)
    middle = np.maximum((number - 1) // 2, 0)
    places = np.take_along_axis(np.argsort(rows, dim, stable=True), middle, dim)
    return picked(self, places, dim, keepdim)


@op(
    **_PICKED,
    variants="function method",
    out="expect",
    named=return_types.mode,
)
def mode(self, /, dim: int = -1, keepdim: bool = False):
    """Return the most frequent element along ``dim`` (the smallest of several) and its last
    index."""
    check_not_empty("mode", self, dim)
    rows = np.moveaxis(at_least_1d(self), dim, -1)
    counts = np.sum(rows[..., :, None] == rows[..., None, :], axis=-1)
    frequent = counts == np.max(counts, axis=-1, keepdims=True)
    top = np.maximum.reduce(rows, axis=-1, keepdims=True)
    least = np.min(np.where(frequent, rows, top), axis=-1, keepdims=True)
    last = rows.shape[-1] - 1 - np.argmax((rows == least)[..., ::-1], axis=-1)
    return picked(self, np.expand_dims(last, dim), dim, keepdim)
