"""Tensors joined, and taken apart again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from autograd_core.op import op
from autograd_core.ops.indices.index import slice_
from autograd_core.ops.shaping.shape import reshape
from autograd_core.tensor.size import wrapped


@op(
    tensors=lambda g, tensors_shape, dim: split_like(g, tensors_shape, dim),
    linear=True,
    variants="function",
    aliases="concat concatenate",
    out="join",
    layout="contiguous",
)
def cat(*tensors, dim=0):
    """Join tensors along an existing dimension."""
    try:
        return np.concatenate(tensors, dim)
    except ValueError:
        parts = _joinable(tensors, dim)
        return np.concatenate(parts, dim) if parts else np.array(tensors[0])


@op(
    tensors=lambda g, dim: unbind(g, dim),
    linear=True,
    variants="function",
    out="join",
    layout="contiguous",
)
def stack(*tensors, dim=0):
    """Join tensors of one shape along a new dimension."""
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for number, tensor in enumerate(tensors):
        if tensor.shape != tensors[0].shape:
            raise RuntimeError(
                "stack expects each tensor to be equal size, but got "
                f"{list(tensors[0].shape)} at entry 0 and {list(tensor.shape)} at entry {number}"
            )
    return np.stack(tensors, dim)


def _joinable(tensors: Sequence[Any], dim: int) -> Sequence[Any]:
    """Return those that take part: empty vectors go with tensors of any rank."""
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for number, tensor in enumerate(tensors):
        if not tensor.ndim:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {number}) cannot be concatenated"
            )
    parts = [(number, tensor) for number, tensor in enumerate(tensors) if tensor.shape != (0,)]
    first = parts[0][1] if parts else tensors[0]
    for number, tensor in parts:
        if tensor.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {tensor.ndim}"
            )
        along = wrapped(dim, first.ndim)
        for axis, (expected, got) in enumerate(zip(first.shape, tensor.shape, strict=True)):
            if expected != got and axis != along:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {along}. Expected size "
                    f"{expected} but got size {got} for tensor number {number} in the list."
                )
    return [tensor for _, tensor in parts]


def split_like(g: Any, shapes: Sequence[tuple[int, ...]], dim: int) -> list[Any]:
    """Return ``g`` cut into pieces as long as ``shapes`` are along ``dim``."""
    ends = [0, *accumulate(0 if shape == (0,) else shape[dim] for shape in shapes)]
    parts = [slice_(g, dim, start, end, 1) for start, end in pairwise(ends)]
    return [
        reshape(part, shape) if shape == (0,) != tuple(part.shape) else part
        for part, shape in zip(parts, shapes, strict=True)
    ]


@op(self=lambda g, dim: stack(g, dim=dim), view="each", linear=True, variants="function method")
def unbind(self, /, dim=0):
    """Return the slices along ``dim``, each a view."""
    rows = np.moveaxis(self, wrapped(dim, self.ndim, of_scalars=False), 0)
    return tuple([rows[number, ...] for number in range(len(rows))])  # `...`: 0-d views, too


@op(
    self=lambda g, dim: cat(g, dim=dim), view="each", linear=True, of="split", node="SplitBackward0"
)
def split_size_(self, /, split_size, dim=0):
    """Return pieces of ``split_size`` along ``dim``; the last may be shorter."""
    _check_splits(self)
    size = self.shape[wrapped(dim, self.ndim)]
    if split_size < 0:
        raise RuntimeError(
            f"split expects split_size be non-negative, but got split_size={split_size}"
        )
    if split_size == 0 != size:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
        )
    before = (slice(None),) * wrapped(dim, self.ndim)  # `np.split` takes three times as long
    starts = range(0, size, split_size or 1) if size else (0,)
    return tuple([self[(*before, slice(start, start + split_size))] for start in starts])


@op(self=lambda g, dim: cat(g, dim=dim), view="each", linear=True, variants="function method")
def split_with_sizes(self, /, split_sizes, dim=0):
    """Return pieces of the given sizes along ``dim``."""
    _check_splits(self)
    if min(split_sizes, default=0) < 0:
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(split_sizes)}"
        )
    if sum(split_sizes) != self.shape[dim]:
        raise RuntimeError(
            "split_with_sizes expects split_sizes to sum exactly to "
            f"{self.shape[dim]} (input tensor's size at dimension {dim}), but got "
            f"split_sizes={list(split_sizes)}"
        )
    return tuple(np.split(self, np.cumsum(split_sizes)[:-1].tolist(), dim))


def _check_splits(x):
    if not x.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")


@op(self=lambda g, dim: cat(g, dim=dim), view="each", linear=True)
def unsafe_split(self, /, split_size, dim=0):
    """Return pieces of ``split_size`` along ``dim``; the last may be shorter."""
    return tuple(np.split(self, range(split_size, self.shape[dim], split_size), dim))


def unsafe_chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    """Return ``chunks`` pieces along ``dim``, as equal as possible."""
    return unsafe_split(x, -(-x._shape[dim] // chunks), dim)
