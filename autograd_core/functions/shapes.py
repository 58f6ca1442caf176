"""Other shapes of a tensor: views where that is possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autograd_core.notices import warn
from autograd_core.ops import copies, diagonals, rearrange, shape
from autograd_core.ops import index as index_ops
from autograd_core.ops.reduce import sum_dim
from autograd_core.ops.shape import reshape as reshape
from autograd_core.tensor import Tensor

__all__ = [
    "adjoint", "as_strided", "broadcast_to", "diag", "diagflat", "flatten", "moveaxis", "movedim",
    "narrow", "ravel", "reshape", "select", "squeeze", "swapaxes", "swapdims", "unflatten",
    "unsqueeze",
]  # fmt: skip


def tuple_of(value: Any) -> tuple[Any, ...]:
    """One number, or several, as a tuple."""
    return (value,) if isinstance(value, int) else tuple(value)


def several(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numbers that are given one by one, or as one sequence."""
    return tuple(values[0]) if len(values) == 1 and not isinstance(values[0], int) else values


def flatten(x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from ``start_dim`` to ``end_dim`` made one."""
    if x.ndim == 0:
        return reshape(x, (1,))
    first, last = start_dim % x.ndim, end_dim % x.ndim
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if first == last:
        return x
    return reshape(x, (*x._shape[:first], -1, *x._shape[last + 1 :]))


def ravel(x: Tensor) -> Tensor:
    """All elements in one dimension."""
    return reshape(x, (-1,))


def unflatten(x: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Dimension ``dim`` taken apart into several; one of the sizes may be -1."""
    dim %= x.ndim
    known = math.prod(n for n in sizes if n != -1)
    if x._shape[dim] % known or (-1 not in sizes and known != x._shape[dim]):
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({x._shape[dim]}) in the input tensor"
        )
    whole = (x._shape[dim] // known if n == -1 else n for n in sizes)
    return shape.view(x, (*x._shape[:dim], *whole, *x._shape[dim + 1 :]))


def reversed_dims(x: Tensor) -> Tensor:
    """``x.T``: the dimensions in reverse order."""
    if x.ndim not in (0, 2):
        warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Consider `x.mT` to "
            "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
            "reverse the dimensions of a tensor."
        )
    return shape.permute(x, tuple(reversed(range(x.ndim))))


def mT(x: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    return shape.transpose(x, -2, -1)


adjoint = mT


def H(x: Tensor) -> Tensor:
    """A matrix transposed."""
    if x.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {x.ndim}-D tensor."
        )
    return shape.transpose(x, 0, 1) if x.ndim else x


def swapdims(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    return shape.transpose(x, dim0, dim1)


swapaxes = swapdims


def movedim(x: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Dimensions moved to other places, the rest in the order they had."""
    for dim in (*tuple_of(source), *tuple_of(destination)):
        if not -x.ndim <= dim < x.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-x.ndim}, {x.ndim - 1}], "
                f"but got {dim})"
            )
    sources = [dim % x.ndim for dim in tuple_of(source)]
    places = [dim % x.ndim for dim in tuple_of(destination)]
    rest = (dim for dim in range(x.ndim) if dim not in sources)
    taken = dict(zip(places, sources, strict=True))
    return shape.permute(
        x, tuple(taken[place] if place in taken else next(rest) for place in range(x.ndim))
    )


moveaxis = movedim


def broadcast_to(x: Tensor, size: Sequence[int]) -> Tensor:
    """Dimensions of size 1 stretched, without a copy."""
    return shape.expand(x, tuple(size))


def squeeze(x: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """All dimensions of size 1 dropped, or those of ``dim`` that are."""
    if dim is None:
        return shape.squeeze_all(x)
    if isinstance(dim, int):
        return shape.squeeze_dim(x, dim)
    return rearrange.squeeze_dims(x, tuple(dim))


def unsqueeze(x: Tensor, dim: int) -> Tensor:
    """A new dimension of size 1 at ``dim``."""
    return shape.unsqueeze(x, dim)


def select(x: Tensor, dim: int, index: int) -> Tensor:
    """The slice at ``index`` of dimension ``dim``, which is dropped."""
    return index_ops.select(x, dim, index)


def narrow(x: Tensor, dim: int, start: int, length: int) -> Tensor:
    """``length`` slices of dimension ``dim`` from ``start`` on."""
    return index_ops.slice_(x, dim, *narrowed(x, dim, start, length), 1)


def narrowed(x: Tensor, dim: int, start: int, length: int) -> tuple[int, int]:
    """Where a narrowed dimension begins and ends."""
    size = x._shape[dim]
    start += size if start < 0 else 0
    if not (length >= 0 and start >= 0 and start + length <= size):
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return start, start + length


def diag(x: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, or a matrix with a vector as its diagonal."""
    if x.ndim == 1:
        return diagonals.diag_embed(x, diagonal)
    if x.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {x.ndim}D")
    return copies.diagonal_copy(x, diagonal)


def diagflat(x: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements of ``x`` along a diagonal."""
    return diagonals.diag_embed(ravel(x), offset)


def sum_to_size(x: Tensor, *size: Any) -> Tensor:
    """Summed to ``size``, from which the shape of ``x`` could have been broadcast."""
    wanted = several(size)
    added = x.ndim - len(wanted)
    if added < 0 or any(n not in (1, x._shape[added + i]) for i, n in enumerate(wanted)):
        raise RuntimeError(
            f"size {{{list(wanted)}}} is not expandable to size {{{list(x._shape)}}}."
        )
    dims = [added + i for i, n in enumerate(wanted) if n == 1 and x._shape[added + i] != 1]
    if added:
        x = sum_dim(x, (*range(added), *dims), True)
        return shape.view(x, wanted)
    return sum_dim(x, tuple(dims), True) if dims else x


def as_strided(
    x: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """The memory of ``x``, which lies in order, read in steps of ``stride`` elements."""
    return rearrange.as_strided(x, tuple(size), tuple(stride), storage_offset)
