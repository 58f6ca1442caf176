"""Places in images: adaptive maxima, their inverse, and windows as columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import Second, op
from autograd_core.ops.checks import check_implemented, scalar_name
from autograd_core.ops.networks.pooling import best_places, padded_image
from autograd_core.ops.networks.windows import Windows


def adaptive_bounds(size: int, count: int) -> list[tuple[int, int]]:
    """``count`` windows that cover ``size`` elements, where each starts and ends."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def adaptive_largest(x: Any, output_size: tuple[int, ...]) -> tuple[Any, Any]:
    """The largest element of each of ``output_size`` windows, and where in the image it is."""
    axis = x.ndim - len(output_size)
    size = x.shape[axis:]
    flat = np.arange(math.prod(size)).reshape(size)
    result = np.empty((*x.shape[:axis], *output_size), x.dtype)
    indices = np.empty(result.shape, np.int64)
    bounds = [adaptive_bounds(n, count) for n, count in zip(size, output_size, strict=True)]
    for place in np.ndindex(*output_size):
        window = tuple(slice(*bounds[d][i]) for d, i in enumerate(place))
        part = x[(..., *window)]
        part = part.reshape(*x.shape[:axis], math.prod(part.shape[axis:]))
        found = best_places(part)
        result[(..., *place)] = np.take_along_axis(part, found[..., None], -1)[..., 0]
        indices[(..., *place)] = flat[window].ravel()[found]
    return result, indices


@op(
    self=lambda g, self, result1, output_size: at_indices(g, result1, self.shape, len(output_size)),
    second=Second(
        "AdaptiveMaxPool2DBackwardBackward0",
        lambda g, result1, output_size: from_indices(g, result1, len(output_size)),
    ),
    outputs="result result1",
    nondiff="result1",
    node="AdaptiveMaxPool2DBackward0",
)
def adaptive_max_pool2d(self, /, output_size):
    """The largest element of each of ``output_size`` windows of images, and where it is."""
    check_implemented("adaptive_max_pool2d", self)
    return adaptive_largest(self, output_size)


@op(
    self=lambda g, self, result1, output_size: at_indices(g, result1, self.shape, len(output_size)),
    second=Second(
        "AdaptiveMaxPool3DBackwardBackward0",
        lambda g, result1, output_size: from_indices(g, result1, len(output_size)),
    ),
    outputs="result result1",
    nondiff="result1",
    node="AdaptiveMaxPool3DBackward0",
)
def adaptive_max_pool3d(self, /, output_size):
    """The largest element of each of ``output_size`` windows of volumes, and where it is."""
    check_implemented("adaptive_max_pool3d_cpu", self)
    return adaptive_largest(self, output_size)


@op(
    self=lambda g, indices, dims: from_indices(g, indices, dims),
    linear=True,
)
def at_indices(self, indices, /, shape, dims):
    """Zeros of ``shape`` with ``self`` added at ``indices`` of the last ``dims`` dimensions,
    counted as one."""
    result, flat, places = _flat(shape, indices, dims, self.dtype)
    rows = np.arange(len(flat))[:, None]
    np.add.at(flat, (rows, places), self.reshape(places.shape))
    return result


@op(
    self=lambda g, indices, self_shape, dims: at_indices(g, indices, self_shape, dims),
    linear=True,
)
def from_indices(self, indices, /, dims):
    """The elements at ``indices`` of the last ``dims`` dimensions, counted as one."""
    planes, places = (_planes(each, dims) for each in (self, indices))
    found = np.take_along_axis(planes, places, -1)
    return found.reshape(indices.shape)


def _flat(shape: Any, indices: Any, dims: int, kind: Any) -> tuple[Any, Any, Any]:
    """Zeros of ``shape``, the same with the last dimensions as one, and indices into that."""
    result = np.zeros(shape, kind)
    return result, _planes(result, dims), _planes(indices, dims)


def _planes(x: Any, dims: int) -> Any:
    """``x`` with its last dimensions as one, and those before them as another."""
    axis = x.ndim - dims
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def _unpooled(x: Any, indices: Any, output_size: tuple[int, ...]) -> Any:
    dims = len(output_size)
    check_implemented(f"max_unpool{dims}d", x)
    if indices.dtype != np.int64:
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {scalar_name(indices)}"
        )
    shape = (*x.shape[: x.ndim - dims], *output_size)
    if x.shape != indices.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(x.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )
    if x.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got "
            f"a tensor with {x.ndim} dimensions."
        )
    if 0 in x.shape[1:]:
        raise RuntimeError(
            f"max_unpooling{dims}d_forward_out_cpu(): Expected input to have non-zero size for "
            f"non-batch dimensions, but got {list(x.shape)} with dimension {x.shape.index(0, 1)} "
            "being empty."
        )
    limit = math.prod(output_size)
    wrong = indices[(indices < 0) | (indices >= limit)]
    if wrong.size:
        raise RuntimeError(
            f"Found an invalid max index: {wrong[0]} (output volumes are of size "
            f"{'x'.join(map(str, output_size))})"
        )
    result, flat, places = _flat(shape, indices, dims, x.dtype)
    np.put_along_axis(flat, places, x.reshape(places.shape), -1)
    return result


@op(
    self=lambda g, indices, output_size: from_indices(g, indices, len(output_size)),
    linear=True,
    node="MaxUnpool2DBackward0",
)
def max_unpool2d(self, indices, /, output_size):
    """Images of ``output_size``, zero but for ``self`` at ``indices``."""
    return _unpooled(self, indices, tuple(output_size))


@op(
    self=lambda g, indices, output_size: from_indices(g, indices, len(output_size)),
    linear=True,
    node="MaxUnpool3DBackward0",
)
def max_unpool3d(self, indices, /, output_size):
    """Volumes of ``output_size``, zero but for ``self`` at ``indices``."""
    return _unpooled(self, indices, tuple(output_size))


@op(
    self=lambda g, self_shape, kernel_size, dilation, padding, stride: col2im(
        g, tuple(self_shape[-2:]), kernel_size, dilation, padding, stride
    ),
    linear=True,
    node="Im2ColBackward0",
)
def im2col(self, /, kernel_size, dilation, padding, stride):
    """What lies in each window of images (N, C, H, W), as columns (N, C * h * w, windows)."""
    if self.dtype != np.bool_:
        check_implemented("im2col_out_cpu", self)
    if self.ndim == 3:
        return im2col(self[None], kernel_size, dilation, padding, stride)[0]
    windows = Windows(kernel_size, stride, padding, dilation)
    size = self.shape[2:]
    output = windows.output_size(size)
    if min(output) < 1:
        raise RuntimeError(
            f"Given input with spatial size ({_listed(size)}), "
            f"kernel_size=({_listed(kernel_size)}), dilation=({_listed(dilation)}), "
            f"padding=({_listed(padding)}), calculated shape of the array of sliding blocks as "
            f"({_listed(output)}), but its components must be at least one."
        )
    padded = padded_image(self.shape, windows, output, self.dtype, 0)
    padded[(..., *windows.inside(size))] = self
    columns: Any = np.empty((*self.shape[:2], *kernel_size, *output), self.dtype)
    everything = (slice(None),) * 2
    for offset, patch in windows.offsets(padded, output, axis=2):
        columns[(*everything, *offset)] = patch
    return columns.reshape(len(self), math.prod(columns.shape[1:4]), math.prod(output))


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


@op(
    self=lambda g, kernel_size, dilation, padding, stride: im2col(
        g, kernel_size, dilation, padding, stride
    ),
    linear=True,
    node="Col2ImBackward0",
)
def col2im(self, /, output_size, kernel_size, dilation, padding, stride):
    """Columns as :func:`im2col` makes them, added up where windows overlap."""
    if self.dtype != np.bool_:
        check_implemented("col2im_out_cpu", self)
    if self.ndim == 2:
        return col2im(self[None], output_size, kernel_size, dilation, padding, stride)[0]
    windows = Windows(kernel_size, stride, padding, dilation)
    output = windows.output_size(output_size)
    area = math.prod(kernel_size)
    if self.shape[1] % area:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={self.shape[1]} and kernel_size=({kernel_size[0]}, "
            f"{kernel_size[1]})."
        )
    if self.shape[2] != math.prod(output):
        raise RuntimeError(
            f"Given output_size=({output_size[0]}, {output_size[1]}), kernel_size="
            f"({kernel_size[0]}, {kernel_size[1]}), dilation=({dilation[0]}, {dilation[1]}), "
            f"padding=({padding[0]}, {padding[1]}), stride=({stride[0]}, {stride[1]}), expected "
            f"size of input's dimension 2 to match the calculated number of sliding blocks "
            f"{output[0]} * {output[1]} = {math.prod(output)}, but got input.size(2)="
            f"{self.shape[2]}."
        )
    channels = self.shape[1] // area
    columns = self.reshape(len(self), channels, *kernel_size, *output)
    shape = (len(self), channels, *output_size)
    padded = padded_image(shape, windows, output, self.dtype, 0)
    for offset, patch in windows.offsets(padded, output, axis=2):
        patch += columns[(slice(None), slice(None), *offset)]
    return np.ascontiguousarray(padded[(..., *windows.inside(output_size))])
