"""Other shapes of a tensor: views where that is possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.autograd.memory import address, layout_of
from autograd_core.op import public
from autograd_core.ops.indices import index as index_ops
from autograd_core.ops.indices.index_along import index_select
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.shaping import copies, diagonals, rearrange, shape, strided
from autograd_core.ops.shaping.convert import contiguous
from autograd_core.ops.shaping.shape import reshape
from autograd_core.own_files import warn
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped
from autograd_core.tensor.views import root_of


def tuple_of(value: Any) -> tuple[Any, ...]:
    """Return one number, or several, as a tuple."""
    return (value,) if isinstance(value, int) else tuple(value)


def several(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return numbers that are given one by one, or as one sequence."""
    return tuple(values[0]) if len(values) == 1 and not isinstance(values[0], int) else values


@public("function method")
def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return ``self`` with the dimensions from ``start_dim`` to ``end_dim`` merged into one."""
    first, last = wrapped(start_dim, self.ndim), wrapped(end_dim, self.ndim)
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if first == last and self.ndim:
        return self
    shape = self._shape
    return reshape(self, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


@public("function method")
def ravel(self: Tensor) -> Tensor:
    """Return all elements in one dimension, in which they lie in order."""
    return reshape(contiguous(self), (-1,))


@public("function method")
def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Return ``self`` with dimension ``dim`` split into several; one of the sizes may be -1."""
    dim = wrapped(dim, self.ndim)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        wrapped(dim, self.ndim, of_scalars=False)
        whole = shape.infer_size(self._shape[dim : dim + 1], sizes)
    except (IndexError, RuntimeError) as error:
        if "invalid for input of size" not in str(error):
            raise RuntimeError(f"unflatten got an unexpected error:\n{error}") from None
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({self._shape[dim]}) in the input tensor"
        ) from None
    return shape.view(self, (*self._shape[:dim], *whole, *self._shape[dim + 1 :]))


def reversed_dims(x: Tensor) -> Tensor:
    """Return ``x.T``: the dimensions in reverse order."""
    if x.ndim not in (0, 2):
        warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Consider `x.mT` to "
            "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
            "reverse the dimensions of a tensor."
        )
    return shape.permute(x, tuple(reversed(range(x.ndim))))


@public("function method", name="adjoint")
def mT(self: Tensor) -> Tensor:
    """Return ``self`` with its last two dimensions exchanged."""
    return shape.transpose(self, -2, -1)


def H(x: Tensor) -> Tensor:
    """Return the transpose of a matrix."""
    if x.ndim not in (0, 2):
        batch = " For batches of matrices, consider using tensor.mH" if x.ndim > 2 else ""
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {x.ndim}-D tensor.{batch}"
        )
    return shape.transpose(x, 0, 1) if x.ndim else x


@public("function method inplace_view")
def swapdims(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return ``self`` with two dimensions exchanged."""
    return shape.transpose(self, dim0, dim1)


@public("function method inplace_view")
def swapaxes(self: Tensor, axis0: int, axis1: int) -> Tensor:
    """:func:`swapdims` under NumPy's name."""
    return shape.transpose(self, axis0, axis1)


@public("function method", aliases="moveaxis")
def movedim(self: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Return ``self`` with some dimensions moved; the others keep their order."""
    given, wanted = tuple_of(source), tuple_of(destination)
    if len(given) != len(wanted):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(given)} dims) should "
            "contain the same number of dims as destination "
            f"({list(wanted)} dims)"
        )
    sources = [wrapped(dim, self.ndim) for dim in given]
    places = [wrapped(dim, self.ndim) for dim in wanted]
    for name, dims, axes in (("source", given, sources), ("destination", wanted, places)):
        if len(set(axes)) < len(axes):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(dims)})")
    rest = (dim for dim in range(self.ndim) if dim not in sources)
    taken = dict(zip(places, sources, strict=True))
    return shape.permute(
        self, tuple(taken[place] if place in taken else next(rest) for place in range(self.ndim))
    )


@public("function method")
def broadcast_to(self: Tensor, size: Sequence[int]) -> Tensor:
    """Return ``self`` with dimensions of size 1 expanded, without a copy."""
    return shape.expand(self, tuple(size))


@public("function method inplace_view")
def squeeze(self: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Return ``self`` without its dimensions of size 1, or without those of ``dim`` that have size
    1."""
    if dim is None:
        return shape.squeeze_all(self)
    if isinstance(dim, int):
        return shape.squeeze_dim(self, dim)
    return rearrange.squeeze_dims(self, tuple(dim))


@public("function method")
def select(self: Tensor, dim: int, index: int) -> Tensor:
    """Return the slice at ``index`` of dimension ``dim``, without that dimension."""
    index_ops.check_select(self._shape, dim, index)
    return index_ops.select(self, dim, index)


@public("function method")
def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return a view of ``length`` slices of dimension ``dim``, from ``start`` on."""
    return index_ops.slice_(self, dim, *narrowed(self, dim, start, length), 1)


def narrowed(x: Tensor, dim: int, start: int, length: int) -> tuple[int, int]:
    """Return where a narrowed dimension begins and ends."""
    if not x.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    size = x._shape[wrapped(dim, x.ndim)]
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    start += size if start < 0 else 0
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return start, start + length


@public("function method", out="expect")
def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """Return the diagonal of a matrix, or a matrix with a vector as its diagonal."""
    if self.ndim == 1:
        return diagonals.diag_embed(self, diagonal)
    if self.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.ndim}D")
    return copies.diagonal_copy(self, diagonal)


@public("function method")
def diagflat(self: Tensor, offset: int = 0) -> Tensor:
    """Return a matrix with all elements of ``self`` along a diagonal."""
    return diagonals.diag_embed(ravel(self), offset)


def sum_to_size(x: Tensor, *size: Any) -> Tensor:
    """Sum to ``size``, from which the shape of ``x`` could have been broadcast."""
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


@public("function method inplace_view")
def as_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Return a view of the memory of ``self``: ``stride`` gives the step of each dimension in
    elements, ``storage_offset`` the first element, counted from the start of the memory.
    """
    offset = within(self, storage_offset)
    return strided.as_strided(self, tuple(size), tuple(stride), offset, own_stride(self))


def own_stride(x: Tensor) -> tuple[int, ...] | None:
    """Return the strides of ``x``, unless it is contiguous."""
    return None if x.array.flags.c_contiguous else layout_of(x.array).stride


def within(x: Tensor, storage_offset: int | None) -> int | None:
    """Return how far after the first element of ``x`` a place of the memory is, which counts from
    the first element of the tensor that ``x`` is a view of."""
    if storage_offset is None:
        return None
    return storage_offset - layout_of(x.array, address(root_of(x).array)).offset


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
