"""Views with strides of one's own, by where elements lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.autograd.memory import Layout, address, flat, in_order, memory_of
from autograd_core.op import op
from autograd_core.ops.pointwise.elementwise import zeros_of
from autograd_core.tensor import Tensor

# ``self_stride`` is None for what is contiguous. Gradients have the shape of ``self`` or of its
# view, and lie as they like: rules go by the layouts that were, never by that of a gradient.


@op(
    self=lambda g, self_shape, size, stride, storage_offset, self_stride: as_strided_gradient(
        g, self_shape, size, stride, storage_offset, self_stride
    ),
    view=True,
    linear=True,
    inplace_node="AsStridedBackward1",
)
def as_strided(self, /, size, stride, storage_offset=None, self_stride=None):
    """Return a view of the memory of ``self`` with the strides ``stride``."""
    layout = _layout(size, stride, storage_offset)
    if self.flags.c_contiguous and layout.offset >= 0 and layout.end <= self.size:
        return layout.of(self.reshape(-1))
    whole: Any = memory_of(self)
    memory = flat(whole).view(self.dtype)
    before = (address(self) - address(whole)) // self.itemsize
    layout = layout._replace(offset=before + layout.offset)
    if layout.offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {layout.offset}")
    if 0 not in layout.size and layout.end > memory.size:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset "
            f"{layout.offset}, and itemsize {self.itemsize} requiring a storage size of "
            f"{layout.end * self.itemsize} are out of bounds for storage of size {memory.nbytes}"
        )
    return layout.of(memory)


def _layout(size: Sequence[int], stride: Sequence[int], offset: int | None) -> Layout:
    """Return the layout that a user asks for.

    Raises:
        RuntimeError: there is none; in PyTorch's words.
    """
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(stride)}"
        )
    if any(n < 0 for n in size):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and "
            f"strides={list(stride)}"
        )
    return Layout(tuple(size), tuple(stride), offset or 0)


def as_strided_gradient(
    g: Any,
    shape: tuple[int, ...],
    size: tuple[int, ...],
    stride: tuple[int, ...],
    storage_offset: int | None,
    self_stride: tuple[int, ...] | None,
) -> Any:
    """Return the gradient of ``self``; elements in one place get equal shares."""
    result = as_strided_backward(g, shape, size, stride, storage_offset, self_stride)
    if self_stride is None or not Layout(shape, self_stride).overlaps:
        return result
    places = Layout(shape, self_stride).places
    shares = np.bincount(places.reshape(-1))[places].astype(result.dtype.name)
    return result / (Tensor.from_array(shares) if isinstance(result, Tensor) else shares)


@op(
    self=lambda g, shape, size, stride, storage_offset, self_stride: read_as_strided(
        g, shape, size, stride, storage_offset, self_stride
    ),
    linear=True,
)
def as_strided_backward(self, /, shape, size, stride, storage_offset, self_stride=None):
    """Add ``self`` to zeros, at the elements at these strides, and return those of ``shape`` with
    the strides ``self_stride``."""
    if 0 in shape or 0 in size:
        return np.zeros(shape, self.dtype)
    start = max(0, -(storage_offset or 0))  # before the elements of `shape`
    into = Layout(size, stride, start + (storage_offset or 0))
    layout = Layout(shape, self_stride or in_order(shape), start)
    memory = np.zeros(max(into.end, layout.end), self.dtype)
    if into.overlaps:
        np.add.at(memory, into.places, self)
    else:
        into.of(memory)[...] = self
    result = layout.of(memory)
    return result.copy() if layout.overlaps else result


@op(
    self=lambda g, self_shape, size, stride, storage_offset, self_stride: as_strided_scatter(
        g,
        zeros_of(read_as_strided(g, self_shape, size, stride, storage_offset, self_stride)),
        size,
        stride,
        storage_offset,
        self_stride,
    ),
    src=lambda g, self_shape, size, stride, storage_offset, self_stride: read_as_strided(
        g, self_shape, size, stride, storage_offset, self_stride
    ),
    linear=True,
)
def as_strided_scatter(self, src, /, size, stride, storage_offset=None, self_stride=None):
    """Return ``self`` with ``src`` in the elements that :func:`as_strided` reads."""
    into = _layout(size, stride, storage_offset)
    layout = Layout(self.shape, self_stride or in_order(self.shape), max(0, -into.offset))
    into = into._replace(offset=into.offset + layout.offset)
    memory = np.zeros(max(into.end, layout.end), self.dtype)
    result = layout.of(memory)
    result[...] = self
    into.of(memory)[...] = src
    return result.copy() if layout.overlaps else result


def read_as_strided(
    g: Any,
    shape: tuple[int, ...],
    size: tuple[int, ...],
    stride: tuple[int, ...],
    storage_offset: int | None,
    self_stride: tuple[int, ...] | None,
) -> Any:
    """Return those elements of ``g`` that :func:`as_strided` reads from a tensor of that layout."""
    return as_strided_backward(
        g, size, shape, self_stride or in_order(shape), -(storage_offset or 0), stride
    )
