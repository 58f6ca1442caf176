"""Tensors cut into pieces, and pieces joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations as choose
from itertools import combinations_with_replacement as choose_again
from itertools import pairwise
from typing import Any

import numpy as np

from autograd_core.op import public
from autograd_core.ops.indices.index_along import index_select
from autograd_core.ops.shaping import joining as joined
from autograd_core.ops.shaping.joining import cat
from autograd_core.ops.shaping.rearrange import block_diag as joined_blocks
from autograd_core.ops.shaping.shape import contiguous_clone, expand, reshape, unsqueeze, view
from autograd_core.ops.shaping.shape_functions import flatten, narrow
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped


@public()
def split(
    tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Return views of pieces along ``dim``: of one size, or of the given sizes."""
    if isinstance(split_size_or_sections, int):
        return joined.split_size_(tensor, split_size_or_sections, dim)
    return joined.split_with_sizes(tensor, tuple(split_size_or_sections), dim)


@public("function method")
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return ``chunks`` pieces along ``dim``, as equal as possible."""
    if not self.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = self._shape[wrapped(dim, self.ndim)]
    return split(self, -(-size // chunks) if size else (0,) * chunks, dim)


@public("function method")
def tensor_split(
    self: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    """Return views of that many pieces along ``dim``, or of pieces split at the given indices."""
    if not self.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    size, wanted = self._shape[wrapped(dim, self.ndim)], indices_or_sections
    if isinstance(wanted, Tensor):
        wanted = wanted.tolist()
    if isinstance(wanted, int):
        if wanted <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {wanted}")
        ends = [i * (size // wanted) + min(i, size % wanted) for i in range(wanted + 1)]
    else:
        ends = [0, *(min(max(i + size if i < 0 else i, 0), size) for i in wanted), size]
    return tuple(narrow(self, dim, start, max(end - start, 0)) for start, end in pairwise(ends))


def _equal_split(name: str, dim: int, least: int) -> Callable[..., tuple[Tensor, ...]]:
    def divided(self: Tensor, indices_or_sections: int | Sequence[int]) -> tuple[Tensor, ...]:
        if self.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a "
                f"tensor with {self.ndim} dimensions!"
            )
        along = 0 if name == "hsplit" and self.ndim == 1 else dim
        parts = indices_or_sections
        if isinstance(parts, int) and self._shape[along] % parts:
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {along}, but the size of the "
                f"dimension {self._shape[along]} is not divisible by the split_size {parts}!"
            )
        return tensor_split(self, parts, along)

    divided.__name__ = divided.__qualname__ = name
    divided.__doc__ = f"Return views of pieces of dimension {dim}: equal ones, or split at indices."
    return public("function method")(divided)


hsplit = _equal_split("hsplit", 1, 1)
vsplit = _equal_split("vsplit", 0, 2)
dsplit = _equal_split("dsplit", 2, 3)


def _copies(parts: Sequence[Tensor]) -> tuple[Tensor, ...]:
    return tuple(contiguous_clone(part) for part in parts)


@public(out="expect")
def split_with_sizes_copy(
    self: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Return copies of pieces of the given sizes along ``dim``."""
    return _copies(split(self, split_sizes, dim))


@public("function method")
def unsafe_split(tensor: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return copies of pieces of ``split_size`` along ``dim``."""
    return _copies(split(tensor, split_size, dim))


@public("function method")
def unsafe_chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return copies of ``chunks`` pieces along ``dim``."""
    return _copies(chunk(self, chunks, dim))


@public(out="expect")
def unbind_copy(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return copies of the slices along ``dim``."""
    return _copies(joined.unbind(self, dim))


# Joining


def _each(call: Callable[[Tensor], Tensor], tensors: tuple[Any, ...]) -> Any:
    """Return ``call`` of one tensor, or of all of several."""
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return call(tensors[0])
    listed = tensors[0] if len(tensors) == 1 else tensors
    return tuple(call(tensor) for tensor in listed)


@public()
def atleast_1d(*tensors: Any) -> Any:
    """Return each tensor with at least one dimension."""
    return _each(lambda x: x if x.ndim else reshape(x, (1,)), tensors)


@public()
def atleast_2d(*tensors: Any) -> Any:
    """Return each tensor with at least two dimensions; a vector becomes a row."""
    return _each(_two, tensors)


def _two(x: Tensor) -> Tensor:
    return reshape(x, (1, 1)) if x.ndim == 0 else unsqueeze(x, 0) if x.ndim == 1 else x


@public()
def atleast_3d(*tensors: Any) -> Any:
    """Return each tensor with at least three dimensions; a matrix gets depth 1."""
    return _each(_three, tensors)


def _three(x: Tensor) -> Tensor:
    if x.ndim == 0:
        return reshape(x, (1, 1, 1))
    if x.ndim == 1:
        x = unsqueeze(x, 0)
    return unsqueeze(x, -1) if x.ndim == 2 else x


@public(out="join")
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors along the second dimension; vectors end to end."""
    parts = atleast_1d(tuple(tensors))
    return cat(parts, dim=0 if parts[0].ndim == 1 else 1)


@public(aliases="row_stack", out="join")
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors along the first dimension; vectors become rows."""
    return cat(atleast_2d(tuple(tensors)), dim=0)


@public(out="join")
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors along the third dimension."""
    return cat(atleast_3d(tuple(tensors)), dim=2)


@public(out="join")
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors side by side; vectors become columns."""
    return hstack([reshape(x, (x.numel(), 1)) if x.ndim <= 1 else x for x in tensors])


@public()
def block_diag(*tensors: Tensor) -> Tensor:
    """Return a matrix of zeros with the given matrices along its diagonal; vectors are rows."""
    return joined_blocks(tensors)


@public()
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Return all tensors expanded to their common shape."""
    size = np.broadcast_shapes(*(x._shape for x in tensors))
    return tuple(x if x._shape == size else expand(x, size) for x in tensors)


@public()
def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Return, for each vector, a grid in which it varies along its own dimension.

    ``indexing="xy"`` exchanges the first two dimensions.
    """
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    vectors = list(tensors[0] if isinstance(tensors[0], (list, tuple)) else tensors)
    for x in vectors:
        if x.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got:  "
                + "  ".join(map(str, x._shape))
            )
    if len({x.dtype for x in vectors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    exchanged = indexing == "xy" and len(vectors) >= 2
    if exchanged:
        vectors[:2] = vectors[1::-1]
    sizes = tuple(x.numel() for x in vectors)
    grids = [
        expand(view(x, (1,) * i + (-1,) + (1,) * (len(vectors) - i - 1)), sizes)
        for i, x in enumerate(vectors)
    ]
    if exchanged:
        grids[:2] = grids[1::-1]
    return tuple(grids)


@public()
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all choices of one element from each vector, one row each."""
    for vector in tensors:
        _check_vector(vector)
    if len(tensors) == 1:
        return tensors[0]
    return joined.stack([flatten(grid) for grid in meshgrid(*tensors)], dim=1)


def _check_vector(x: Tensor) -> None:
    if x.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(x.shape)}")


@public()
def combinations(self: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all choices of ``r`` elements of a vector, one row each, in order."""
    _check_vector(self)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return Tensor.from_array(np.empty(0, self.dtype.dtype))
    rule = choose_again if with_replacement else choose
    rows = np.array(list(rule(range(self.numel()), r)), np.int64).reshape(-1, r)
    return joined.stack([index_select(self, Tensor.from_array(c.copy()), 0) for c in rows.T], dim=1)
