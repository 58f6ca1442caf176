"""Elements in other places, and many times over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.op import public
from autograd_core.ops.indices.index_along import index_select
from autograd_core.ops.shaping import rearrange, shape
from autograd_core.ops.shaping.shape import reshape
from autograd_core.ops.shaping.shape_functions import flatten, several, tuple_of
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped


@public("function method")
def flip(self: Tensor, *dims: Any) -> Tensor:
    """Return ``self`` with the order along some dimensions reversed."""
    return rearrange.flip(self, several(dims))


@public("function method")
def fliplr(self: Tensor) -> Tensor:
    """Return ``self`` with the order of its columns reversed."""
    if self.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return rearrange.flip(self, (1,))


@public("function method")
def flipud(self: Tensor) -> Tensor:
    """Return ``self`` with the order of its rows reversed."""
    if not self.ndim:
        raise RuntimeError("Input must be >= 1-d.")
    return rearrange.flip(self, (0,))


@public("function method")
def roll(
    self: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] | None = ()
) -> Tensor:
    """Return ``self`` with its elements shifted cyclically along some dimensions, or in the
    flattened tensor."""
    return rearrange.roll(self, tuple_of(shifts), () if dims is None else tuple_of(dims))


@public("function method")
def rot90(self: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Return ``self`` rotated ``k`` times by 90 degrees in the plane of two dimensions."""
    return rearrange.rot90(self, k, tuple(dims))


def repeat(x: Tensor, *repeats: Any) -> Tensor:
    """Return the whole of ``x`` many times over, along each dimension."""
    return rearrange.repeat(x, several(repeats))


@public("function method")
def tile(self: Tensor, *dims: Any) -> Tensor:
    """:func:`repeat`, with ones for dimensions that are not given."""
    sizes = several(dims)
    return rearrange.repeat(self, (1,) * (self.ndim - len(sizes)) + sizes)


@public("function method")
def repeat_interleave(
    self: Tensor, repeats: Tensor | int, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Return each element, or each slice of ``dim``, several times in a row."""
    if dim is None:
        self, dim = (self if self.ndim == 1 else reshape(self, (-1,))), 0
    dim = wrapped(dim, self.ndim, of_scalars=False)
    if isinstance(repeats, Tensor):
        if repeats.numel() not in (1, self._shape[dim]):
            raise RuntimeError(
                "repeats must have the same size as input along dim, but got repeats.size(0) = "
                f"{repeats.numel()} and input.size({dim}) = {self._shape[dim]}"
            )
        counts = np.broadcast_to(repeats.array, (self._shape[dim],))
        return index_select(self, Tensor.from_array(np.repeat(np.arange(len(counts)), counts)), dim)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    before, after = self._shape[: dim + 1], self._shape[dim + 1 :]
    wide = shape.clone(shape.expand(shape.unsqueeze(self, dim + 1), (*before, repeats, *after)))
    return flatten(wide, dim, dim + 1)
