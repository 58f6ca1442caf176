"""Elements moved, repeated, padded and cut out: copies, and views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.op import op
from autograd_core.ops.indices.index import check_select, select, slice_
from autograd_core.ops.pointwise.elementwise import zeros_of
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.shaping.shape import reshape
from autograd_core.tensor.size import wrapped, wrapped_all


@op(self=lambda g, dims: flip(g, dims), linear=True, layout="preserved")
def flip(self, /, dims):
    """Return ``self`` with the order along some dimensions reversed."""
    if len(dims) > 1 or not self.ndim:
        wrapped_all(dims, self.ndim)
    return np.array(np.flip(self, dims) if self.ndim else self)


@op(
    self=lambda g, shifts, dims: roll(g, tuple(-n for n in shifts), dims),
    linear=True,
    layout="contiguous",
)
def roll(self, /, shifts, dims=()):
    """Return ``self`` with elements shifted circularly along some dimensions."""
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != len(dims) and (dims or len(shifts) > 1):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    if dims and not self.ndim:
        wrapped(dims[0], 0, of_scalars=False)
    return np.roll(self, shifts, dims) if dims else np.roll(self, shifts[0])


@op(self=lambda g, k, dims: rot90(g, -k, dims), linear=True, node="Rot90Backward0")
def rot90(self, /, k=1, dims=(0, 1)):
    """Return ``self`` rotated ``k`` times by 90 degrees in the plane of two dimensions, from the
    first to the second."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    first, second = (wrapped(dim, self.ndim) for dim in dims)
    if first == second:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return np.array(np.rot90(self, k, dims))


@op(
    self=lambda g, self_shape, repeats: repeat_backward(g, self_shape, repeats),
    linear=True,
    layout="contiguous",
)
def repeat(self, /, repeats):
    """Return ``self`` repeated along each dimension."""
    if len(repeats) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    return np.tile(self, repeats)


def repeat_backward(g: Any, shape: Sequence[int], repeats: Sequence[int]) -> Any:
    """Return the copies of each element summed."""
    full = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    pairs = [n for pair in zip(repeats, full, strict=True) for n in pair]
    if not full:
        return g
    return reshape(sum_dim(reshape(g, pairs), tuple(range(0, len(pairs), 2))), shape)


@op(
    self=lambda g, pad: constant_pad_nd(g, tuple(-n for n in pad)),
    variants="function",
    layout="contiguous",
)
def constant_pad_nd(self, /, pad, value=0):
    """Return ``self`` padded with ``value``, or cropped: (before, after), starting with the last
    dimension.

    Raises:
        RuntimeError: ``pad`` has an odd length, or more dimensions than ``self``.
    """
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) // 2 > self.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(pad)} while the input has {self.ndim} dimensions."
        )
    widths = [(0, 0)] * (self.ndim - len(pad) // 2)
    widths += [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    if any(n + min(a, 0) + min(b, 0) < 0 for n, (a, b) in zip(self.shape, widths, strict=True)):
        raise RuntimeError("narrow(): length must be non-negative.")
    inside = tuple(
        slice(max(-before, 0), n - max(-after, 0))
        for n, (before, after) in zip(self.shape, widths, strict=True)
    )
    outside = [(max(before, 0), max(after, 0)) for before, after in widths]
    return np.pad(self[inside], outside, constant_values=value)


@op(
    self=lambda g, self_shape, dimension, size, step: unfold_backward(
        g, self_shape, dimension, size, step
    ),
    view=True,
    linear=True,
    variants="function method",
)
def unfold(self, /, dimension, size, step):
    """Return windows of ``size`` along a dimension, one every ``step``, as a last dimension."""
    dim, length = wrapped(dimension, self.ndim), self.shape[dimension] if self.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(
            f"maximum size for tensor at dimension {dim} is {length} but size is {size}"
        )
    if step < 1:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not self.ndim:
        return self.reshape(1)[:size]
    shape, strides = list(self.shape), list(self.strides)
    shape[dim] = (length - size) // step + 1
    strides[dim] *= step
    return np.lib.stride_tricks.as_strided(
        self, (*shape, size), (*strides, self.strides[dim]), writeable=self.flags.writeable
    )


@op(grad_in=lambda g, dim, size, step: unfold(g, dim, size, step), linear=True)
def unfold_backward(grad_in, /, shape, dim, size, step):
    """Return zeros of ``shape`` with the windows added at their places."""
    result = np.zeros(shape, grad_in.dtype)
    if not shape:
        return result + grad_in.sum()
    along = np.moveaxis(result, dim, -1)
    for place in range(size):
        starts = np.moveaxis(grad_in[..., place], dim, -1)
        along[..., place : place + step * starts.shape[-1] : step] += starts
    return result


@op(
    self=lambda g, self_shape: reshape(g, self_shape),
    view=True,
    linear=True,
    of="squeeze",
    node="SqueezeBackward2",
    inplace_node="SqueezeBackward5",
)
def squeeze_dims(self, /, dims):
    """Return ``self`` without those of the given dimensions whose size is 1."""
    dims = wrapped_all(dims, self.ndim)
    return np.squeeze(self, tuple(dim for dim in dims if self.ndim and self.shape[dim] == 1))


# A part of a tensor, put in its place


@op(
    self=lambda g, dim, index: select_scatter(g, zeros_of(select(g, dim, index)), dim, index),
    src=lambda g, dim, index: select(g, dim, index),
    linear=True,
    layout="preserved",
)
def select_scatter(self, src, /, dim, index):
    """Return ``self`` with ``src`` at ``index`` of dimension ``dim``."""
    check_select(self.shape, dim, index)
    result = np.array(self)
    _replace(select(result, dim, index), src)
    return result


def _replace(part: Any, src: Any) -> None:
    """Write ``src``, which does not broadcast."""
    if part.shape != src.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(part.shape)}"
        )
    part[...] = src


@op(
    self=lambda g, dim, start, end, step: slice_scatter(
        g, zeros_of(slice_(g, dim, start, end, step)), dim, start, end, step
    ),
    src=lambda g, dim, start, end, step: slice_(g, dim, start, end, step),
    linear=True,
    layout="preserved",
)
def slice_scatter(self, src, /, dim=0, start=None, end=None, step=1):
    """Return ``self`` with ``src`` in each ``step``-th slice of ``dim``, ``start`` to ``end``."""
    if not self.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    wrapped(dim, self.ndim)
    result = np.array(self)
    _replace(slice_(result, dim, start, end, step), src)
    return result


@op(
    tensors=lambda g, tensors_shape: block_diag_backward(g, tensors_shape),
    linear=True,
    layout="contiguous",
)
def block_diag(*tensors):
    """Return a matrix of zeros with the given matrices along its diagonal; vectors are rows."""
    blocks = [np.atleast_2d(tensor) for tensor in tensors]
    shape = np.sum([block.shape for block in blocks], axis=0)
    result = np.zeros(shape, np.result_type(*blocks))
    row = column = 0
    for block in blocks:
        height, width = block.shape
        result[row : row + height, column : column + width] = block
        row, column = row + height, column + width
    return result


def block_diag_backward(g: Any, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    """Return the blocks of the diagonal, each in the shape it had."""
    blocks, row, column = [], 0, 0
    for shape in shapes:
        height, width = (1, 1, *shape)[-2:]
        rows = slice_(g, 0, row, row + height, 1)
        blocks.append(reshape(slice_(rows, 1, column, column + width, 1), shape))
        row, column = row + height, column + width
    return blocks
