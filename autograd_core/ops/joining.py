"""Tensors joined, and taken apart again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from autograd_core.op import Sample, op
from autograd_core.ops.index import slice_
from autograd_core.ops.shape import length_along


@op(
    tensors=lambda g, tensors_shape, dim: split_like(g, tensors_shape, dim),
    linear=True,
    samples=(Sample(((2, 3), (4, 3))), Sample(((2, 3), (2, 1)), {"dim": 1})),
)
def cat(*tensors, dim=0):
    """Tensors joined along an existing dimension."""
    _check_joinable(tensors, dim)
    return np.concatenate(tensors, dim)


@op(
    tensors=lambda g, dim: unbind(g, dim),
    linear=True,
    samples=(Sample(((2, 3), (2, 3)), {"dim": 1}),),
)
def stack(*tensors, dim=0):
    """Tensors of one shape joined along a new dimension."""
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for number, each in enumerate(tensors):
        if each.shape != tensors[0].shape:
            raise RuntimeError(
                "stack expects each tensor to be equal size, but got "
                f"{list(tensors[0].shape)} at entry 0 and {list(each.shape)} at entry {number}"
            )
    return np.stack(tensors, dim)


def _check_joinable(tensors: Sequence[Any], dim: int) -> None:
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    first = tensors[0]
    for number, each in enumerate(tensors):
        if each.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {each.ndim}"
            )
        for axis, (expected, got) in enumerate(zip(first.shape, each.shape, strict=True)):
            if expected != got and axis != dim % first.ndim:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size "
                    f"{expected} but got size {got} for tensor number {number} in the list."
                )


def split_like(g: Any, shapes: Sequence[tuple[int, ...]], dim: int) -> list[Any]:
    """``g`` cut into pieces as long as ``shapes`` are along ``dim``."""
    ends = [0, *accumulate(shape[dim] for shape in shapes)]
    return [slice_(g, dim, start, end, 1) for start, end in pairwise(ends)]


@op(
    x=lambda g, dim: stack(g, dim=dim),
    view="each",
    linear=True,
    samples=(Sample(((3, 2),)), Sample(((3, 2),), {"dim": 1}), Sample(((3,),))),
)
def unbind(x, /, dim=0):
    """The slices along ``dim``, each a view."""
    rows = np.moveaxis(x, dim, 0)
    return tuple([rows[number, ...] for number in range(len(rows))])  # `...`: 0-d views, too


@op(
    x=lambda g, dim: cat(g, dim=dim),
    view="each",
    linear=True,
    of="split",
    node="SplitBackward0",
    samples=(Sample(((5, 2),), {"split_size": 2}),),
)
def split_size_(x, /, split_size, dim=0):
    """Pieces of ``split_size`` along ``dim``; the last may be shorter."""
    starts = range(split_size, length_along(x, dim), split_size)
    return tuple(np.split(x, list(starts), dim))


@op(
    x=lambda g, dim: cat(g, dim=dim),
    view="each",
    linear=True,
    samples=(Sample(((5, 2),), {"split_sizes": (2, 3)}),),
)
def split_with_sizes(x, /, split_sizes, dim=0):
    """Pieces of the given sizes along ``dim``."""
    if sum(split_sizes) != length_along(x, dim):
        raise RuntimeError(
            "split_with_sizes expects split_sizes to sum exactly to "
            f"{x.shape[dim]} (input tensor's size at dimension {dim}), but got "
            f"split_sizes={list(split_sizes)}"
        )
    return tuple(np.split(x, np.cumsum(split_sizes)[:-1].tolist(), dim))
