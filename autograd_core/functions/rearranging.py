"""Elements in other places, and many times over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.functions.shapes import flatten, several, tuple_of
from autograd_core.op import public
from autograd_core.ops import rearrange, shape
from autograd_core.ops.index_along import index_select
from autograd_core.ops.shape import reshape
from autograd_core.tensor import Tensor
from autograd_core.tensor.dimensions import wrapped


@public("function method")
def flip(x: Tensor, *dims: Any) -> Tensor:
    """The order along some dimensions reversed."""
    return rearrange.flip(x, several(dims))


@public("function method")
def fliplr(x: Tensor) -> Tensor:
    """The order of columns reversed."""
    if x.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return rearrange.flip(x, (1,))


@public("function method")
def flipud(x: Tensor) -> Tensor:
    """The order of rows reversed."""
    if not x.ndim:
        raise RuntimeError("Input must be >= 1-d.")
    return rearrange.flip(x, (0,))


@public("function method")
def roll(x: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] = ()) -> Tensor:
    """Elements moved along some dimensions, or in the flattened tensor, in a circle."""
    return rearrange.roll(x, tuple_of(shifts), tuple_of(dims))


@public("function method")
def rot90(x: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """The plane of two dimensions turned ``k`` times by a right angle."""
    return rearrange.rot90(x, k, tuple(dims))


def repeat(x: Tensor, *repeats: Any) -> Tensor:
    """The whole of ``x`` many times over, along each dimension."""
    return rearrange.repeat(x, several(repeats))


@public("function method")
def tile(x: Tensor, *dims: Any) -> Tensor:
    """:func:`repeat`, with ones for dimensions that are not given."""
    sizes = several(dims)
    return rearrange.repeat(x, (1,) * (x.ndim - len(sizes)) + sizes)


@public("function method")
def repeat_interleave(
    x: Tensor, repeats: Tensor | int, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element, or each slice of ``dim``, many times over."""
    if dim is None:
        x, dim = (x if x.ndim == 1 else reshape(x, (-1,))), 0
    dim = wrapped(dim, x.ndim, of_scalars=False)
    if isinstance(repeats, Tensor):
        if repeats.numel() not in (1, x._shape[dim]):
            raise RuntimeError(
                "repeats must have the same size as input along dim, but got repeats.size(0) = "
                f"{repeats.numel()} and input.size({dim}) = {x._shape[dim]}"
            )
        counts = np.broadcast_to(repeats.array, (x._shape[dim],))
        return index_select(x, Tensor.from_array(np.repeat(np.arange(len(counts)), counts)), dim)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    before, after = x._shape[: dim + 1], x._shape[dim + 1 :]
    wide = shape.clone(shape.expand(shape.unsqueeze(x, dim + 1), (*before, repeats, *after)))
    return flatten(wide, dim, dim + 1)
