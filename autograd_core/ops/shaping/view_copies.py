"""Views as tensors of their own: copies of what they show, and the whole with it replaced."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_core.op import public
from autograd_core.ops.shaping import copies, diagonals, rearrange, strided
from autograd_core.ops.shaping.convert import check_gradient
from autograd_core.ops.shaping.shape_functions import narrowed, own_stride, within
from autograd_core.tensor import Tensor


@public(out="expect")
def squeeze_copy(self: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Return a copy without dimensions of size 1, or without those of ``dim`` that have size 1."""
    if dim is None:
        return copies.squeeze_all_copy(self)
    if isinstance(dim, int):
        return copies.squeeze_dim_copy(self, dim)
    return copies.squeeze_dims_copy(self, tuple(dim))


@public("function method", out="expect")
def narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return a copy of ``length`` slices of dimension ``dim`` from ``start`` on."""
    return copies.slice_copy(self, dim, *narrowed(self, dim, start, length), 1)


@public(out="expect")
def as_strided_copy(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Return a copy of what :func:`as_strided` reads."""
    offset = within(self, storage_offset)
    return copies.as_strided_copy(self, tuple(size), tuple(stride), offset, own_stride(self))


@public(out="expect")
def expand_copy(self: Tensor, size: Sequence[int]) -> Tensor:
    """Return a copy with dimensions of size 1 stretched."""
    return copies.expand_copy(self, tuple(size))


@public(out="expect")
def permute_copy(self: Tensor, dims: Sequence[int]) -> Tensor:
    """Return a copy with all dimensions in a new order."""
    return copies.permute_copy(self, tuple(dims))


@public(out="expect")
def view_copy(self: Tensor, size: Sequence[int]) -> Tensor:
    """Return a copy with another shape."""
    return copies.view_copy(self, tuple(size))


@public("function method")
def diagonal_scatter(
    self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Return ``self`` with ``src`` in a diagonal."""
    check_gradient(self.dtype, src)
    return diagonals.diagonal_scatter(self, src, offset, dim1, dim2)


@public("function method")
def as_strided_scatter(
    self: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Return ``self`` with ``src`` in the elements that :func:`as_strided` reads."""
    check_gradient(self.dtype, src)
    offset = within(self, storage_offset)
    if src._shape != tuple(size):
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(size)}"
        )
    kernel = strided.as_strided.op.kernel  # type: ignore[attr-defined]
    kernel(self.array, size, stride, offset)  # refuses what is out of bounds
    return strided.as_strided_scatter(
        self, src, tuple(size), tuple(stride), offset, own_stride(self)
    )


@public("function method")
def select_scatter(self: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Return ``self`` with ``src`` at ``index`` of dimension ``dim``."""
    check_gradient(self.dtype, src)
    return rearrange.select_scatter(self, src, dim, index)


@public("function method", out="expect")
def slice_scatter(
    self: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """Return ``self`` with ``src`` in each ``step``-th slice of ``dim``, ``start`` to ``end``."""
    check_gradient(self.dtype, src)
    return rearrange.slice_scatter(self, src, dim, start, end, step)
