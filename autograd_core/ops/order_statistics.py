"""Medians, modes and the like: one element is picked, and gets the gradient."""

from __future__ import annotations

import numpy as np

from autograd_core.op import Sample, op
from autograd_core.ops.reduce import evenly, put_along

_MATRIX = [[1.0, 4.0, 2.5], [3.0, 0.5, -2.0]]


@op(
    x=lambda g, x, ans: evenly(g, x, ans),
    of="median",
    node="MedianBackward0",
    samples=(Sample((_MATRIX,)),),
)
def median_all(x, /):
    """The lower of the middle elements; NaN if there is one."""
    flat = np.sort(x, axis=None)  # NaN comes last
    last = flat[-1:]
    return last[0] if np.isnan(last).any() else flat[(flat.size - 1) // 2]


@op(
    x=lambda g, x, ans: evenly(g, x, ans),
    of="nanmedian",
    node="NanmedianBackward0",
    samples=(Sample((_MATRIX,)),),
)
def nanmedian_all(x, /):
    """The lower of the middle elements that are not NaN."""
    flat = np.sort(x, axis=None)
    number = int(np.count_nonzero(~np.isnan(flat)))
    return flat[max(number - 1, 0) // 2]


@op(
    x=lambda g, x_shape, indices, dim, keepdim: put_along(g, indices, x_shape, dim, keepdim),
    outputs="values indices",
    nondiff="indices",
    samples=(Sample((_MATRIX,), {"k": 2, "dim": 1}),),
)
def kthvalue(x, /, k, dim=-1, keepdim=False):
    """The ``k``-th smallest element along ``dim``, and where it is."""
    if not 1 <= k <= x.shape[dim]:
        raise RuntimeError(
            f"kthvalue(): selected number k out of range for dimension {dim % x.ndim}"
        )
    return _picked(x, np.take(np.argsort(x, dim, stable=True), [k - 1], dim), dim, keepdim)


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
    order = np.argsort(x, dim, stable=True)
    places = np.take(order, [(x.shape[dim] - 1) // 2], dim)
    strange = np.isnan(x)
    first = np.expand_dims(np.argmax(strange, dim), dim)
    places = np.where(np.any(strange, axis=dim, keepdims=True), first, places)
    return _picked(x, places, dim, keepdim)


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
    number = np.sum(~np.isnan(x), axis=dim, keepdims=True)
    middle = np.maximum((number - 1) // 2, 0)
    places = np.take_along_axis(np.argsort(x, dim, stable=True), middle, dim)
    return _picked(x, places, dim, keepdim)


@op(
    x=lambda g, x_shape, indices, dim, keepdim: put_along(g, indices, x_shape, dim, keepdim),
    outputs="values indices",
    nondiff="indices",
    samples=(Sample(([[1.0, 4.0, 2.5]],), {"dim": 0}),),
)
def mode(x, /, dim=-1, keepdim=False):
    """The most frequent element along ``dim`` (the smallest of several), and its last place."""
    rows = np.moveaxis(x, dim, -1)
    counts = np.sum(rows[..., :, None] == rows[..., None, :], axis=-1)
    frequent = counts == np.max(counts, axis=-1, keepdims=True)
    top = np.maximum.reduce(rows, axis=-1, keepdims=True)
    least = np.min(np.where(frequent, rows, top), axis=-1, keepdims=True)
    last = rows.shape[-1] - 1 - np.argmax((rows == least)[..., ::-1], axis=-1)
    return _picked(x, np.expand_dims(last, dim), dim, keepdim)


def _picked(x, places, dim, keepdim):
    values = np.take_along_axis(x, places, dim)
    return (values, places) if keepdim else (np.squeeze(values, dim), np.squeeze(places, dim))
