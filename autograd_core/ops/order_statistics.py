"""Medians, modes and the like: one element is picked, and gets the gradient."""

from __future__ import annotations

import numpy as np

from autograd_core.op import Sample, op
from autograd_core.ops.checks import check_not_bool
from autograd_core.ops.reduce import check_not_empty, evenly, picked, put_along
from autograd_core.ops.shape import at_least_1d
from autograd_core.tensor.dimensions import wrapped

_MATRIX = [[1.0, 4.0, 2.5], [3.0, 0.5, -2.0]]


@op(
    x=lambda g, x, ans: evenly(g, x, ans),
    of="median",
    node="MedianBackward0",
    samples=(Sample((_MATRIX,)),),
)
def median_all(x, /):
    """The lower of the middle elements; NaN if there is one."""
    check_not_bool("median_cpu", x)
    flat = np.sort(x, axis=None)  # NaN comes last
    if not flat.size or np.isnan(flat[-1]):
        return np.array(np.nan).astype(x.dtype)
    return flat[(flat.size - 1) // 2]


@op(
    x=lambda g, x, ans: evenly(g, x, ans),
    of="nanmedian",
    node="NanmedianBackward0",
    samples=(Sample((_MATRIX,)),),
)
def nanmedian_all(x, /):
    """The lower of the middle elements that are not NaN."""
    check_not_bool("median_cpu", x)
    flat = np.sort(x, axis=None)
    number = int(np.count_nonzero(~np.isnan(flat)))
    return flat[(number - 1) // 2] if number else np.array(np.nan).astype(x.dtype)


@op(
    x=lambda g, x_shape, indices, dim, keepdim: put_along(g, indices, x_shape, dim, keepdim),
    outputs="values indices",
    nondiff="indices",
    samples=(Sample((_MATRIX,), {"k": 2, "dim": 1}),),
)
def kthvalue(x, /, k, dim=-1, keepdim=False):
    """The ``k``-th smallest element along ``dim``, and where it is."""
    check_not_bool("kthvalue_cpu", x)
    rows, along = at_least_1d(x), wrapped(dim, x.ndim)
    check_not_empty("kthvalue", x, along)
    if not 1 <= k <= rows.shape[along]:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {along}")
    order = np.argsort(rows, along, stable=True)
    return picked(x, np.take(order, [k - 1], along), along, keepdim)


@op(
    x=lambda g, x_shape, indices, dim, keepdim: put_along(g, indices, x_shape, dim, keepdim),
    outputs="values indices",
    nondiff="indices",
    of="median",
    node="MedianBackward1",
    samples=(Sample((_MATRIX,), {"dim": 1}),),
)
def median_dim(x, /, dim, keepdim=False):
    """The lower of the middle elements along ``dim``, and where it is; NaN if there is one."""
    check_not_bool("median_out", x)
    rows = at_least_1d(x)
    check_not_empty("median", x, dim)
    order = np.argsort(rows, dim, stable=True)
    places = np.take(order, [(rows.shape[dim] - 1) // 2], dim)
    strange = np.isnan(rows)
    first = np.expand_dims(np.argmax(strange, dim), dim)
    places = np.where(np.any(strange, axis=dim, keepdims=True), first, places)
    return picked(x, places, dim, keepdim)


@op(
    x=lambda g, x_shape, indices, dim, keepdim: put_along(g, indices, x_shape, dim, keepdim),
    outputs="values indices",
    nondiff="indices",
    of="nanmedian",
    node="NanmedianBackward1",
    samples=(Sample((_MATRIX,), {"dim": 1}),),
)
def nanmedian_dim(x, /, dim, keepdim=False):
    """The lower of the middle elements along ``dim`` that are not NaN, and where it is."""
    check_not_bool("median_out", x)
    rows = at_least_1d(x)
    check_not_empty("nanmedian", x, dim)
    number = np.sum(~np.isnan(rows), axis=dim, keepdims=True)
    middle = np.maximum((number - 1) // 2, 0)
    places = np.take_along_axis(np.argsort(rows, dim, stable=True), middle, dim)
    return picked(x, places, dim, keepdim)


@op(
    x=lambda g, x_shape, indices, dim, keepdim: put_along(g, indices, x_shape, dim, keepdim),
    outputs="values indices",
    nondiff="indices",
    samples=(Sample(([[1.0, 4.0, 2.5]],), {"dim": 0}),),
)
def mode(x, /, dim=-1, keepdim=False):
    """The most frequent element along ``dim`` (the smallest of several), and its last place."""
    check_not_empty("mode", x, dim)
    rows = np.moveaxis(at_least_1d(x), dim, -1)
    counts = np.sum(rows[..., :, None] == rows[..., None, :], axis=-1)
    frequent = counts == np.max(counts, axis=-1, keepdims=True)
    top = np.maximum.reduce(rows, axis=-1, keepdims=True)
    least = np.min(np.where(frequent, rows, top), axis=-1, keepdims=True)
    last = rows.shape[-1] - 1 - np.argmax((rows == least)[..., ::-1], axis=-1)
    return picked(x, np.expand_dims(last, dim), dim, keepdim)
