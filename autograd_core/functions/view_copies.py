"""Views as tensors of their own: copies of what they show, and the whole with it replaced."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_core.functions.convert import check_gradient
from autograd_core.functions.shapes import narrowed, within
from autograd_core.op import public
from autograd_core.ops import copies, diagonals, rearrange
from autograd_core.tensor import Tensor


@public()
def squeeze_copy(x: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """A copy without all dimensions of size 1, or without those of ``dim`` that are."""
    if dim is None:
        return copies.squeeze_all_copy(x)
    if isinstance(dim, int):
        return copies.squeeze_dim_copy(x, dim)
    return copies.squeeze_dims_copy(x, tuple(dim))


@public("function method")
def narrow_copy(x: Tensor, dim: int, start: int, length: int) -> Tensor:
    """A copy of ``length`` slices of dimension ``dim`` from ``start`` on."""
    return copies.slice_copy(x, dim, *narrowed(x, dim, start, length), 1)


@public()
def as_strided_copy(
    x: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """A copy of what :func:`as_strided` reads."""
    return copies.as_strided_copy(x, tuple(size), tuple(stride), within(x, storage_offset))


@public()
def expand_copy(x: Tensor, size: Sequence[int]) -> Tensor:
    """A copy with dimensions of size 1 stretched."""
    return copies.expand_copy(x, tuple(size))


@public()
def permute_copy(x: Tensor, dims: Sequence[int]) -> Tensor:
    """A copy with all dimensions in a new order."""
    return copies.permute_copy(x, tuple(dims))


@public()
def view_copy(x: Tensor, size: Sequence[int]) -> Tensor:
    """A copy under another shape."""
    return copies.view_copy(x, tuple(size))


@public("function method")
def diagonal_scatter(
    x: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """``x`` with ``src`` in a diagonal."""
    check_gradient(x.dtype, src)
    return diagonals.diagonal_scatter(x, src, offset, dim1, dim2)


@public("function method")
def as_strided_scatter(
    x: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """``x`` with ``src`` in the places that :func:`as_strided` reads."""
    check_gradient(x.dtype, src)
    offset = within(x, storage_offset)
    return rearrange.as_strided_scatter(x, src, tuple(size), tuple(stride), offset)


@public("function method")
def select_scatter(x: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """``x`` with ``src`` at ``index`` of dimension ``dim``."""
    check_gradient(x.dtype, src)
    return rearrange.select_scatter(x, src, dim, index)


@public("function method")
def slice_scatter(
    x: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """``x`` with ``src`` in every ``step``-th slice of ``dim`` from ``start`` to ``end``."""
    check_gradient(x.dtype, src)
    return rearrange.slice_scatter(x, src, dim, start, end, step)
