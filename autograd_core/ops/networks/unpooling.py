"""Adaptive maxima of images, and the inverse of pooling: maxima back at their indices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import Second, op
from autograd_core.ops.checks import check_implemented, scalar_name
from autograd_core.ops.networks.pooling import best_places


def adaptive_bounds(size: int, count: int) -> list[tuple[int, int]]:
    """Return ``count`` windows that cover ``size`` elements, where each starts and ends."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def adaptive_largest(x: Any, output_size: tuple[int, ...]) -> tuple[Any, Any]:
    """Return the largest element of each of ``output_size`` windows, and where it is."""
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
        best = best_places(part)
        result[(..., *place)] = np.take_along_axis(part, best[..., None], -1)[..., 0]
        indices[(..., *place)] = flat[window].ravel()[best]
    return result, indices


def _maxima(dims: int) -> Any:
    """Return the rules of maxima in windows of so many dimensions."""
    return op(
        self=lambda g, self, result1, output_size: at_indices(
            g, result1, self.shape, len(output_size)
        ),
        second=Second(
            f"AdaptiveMaxPool{dims}DBackwardBackward0",
            lambda g, result1, output_size: from_indices(g, result1, len(output_size)),
        ),
        outputs="result result1",
        nondiff="result1",
        node=f"AdaptiveMaxPool{dims}DBackward0",
    )


@_maxima(2)
def adaptive_max_pool2d(self, /, output_size):
    """Return the largest element of each of ``output_size`` windows of images, and where it is."""
    check_implemented("adaptive_max_pool2d", self)
    return adaptive_largest(self, output_size)


@_maxima(3)
def adaptive_max_pool3d(self, /, output_size):
    """Return the largest element of each of ``output_size`` windows of volumes, and where it is."""
    check_implemented("adaptive_max_pool3d_cpu", self)
    return adaptive_largest(self, output_size)


@op(self=lambda g, indices, dims: from_indices(g, indices, dims), linear=True)
def at_indices(self, indices, /, shape, dims):
    """Return zeros of ``shape`` with ``self`` added at ``indices`` of the last ``dims`` dimensions,
    counted as one."""
    result, flat, places = _flat(shape, indices, dims, self.dtype)
    rows = np.arange(len(flat))[:, None]
    np.add.at(flat, (rows, places), self.reshape(places.shape))
    return result


@op(self=lambda g, indices, self_shape, dims: at_indices(g, indices, self_shape, dims), linear=True)
def from_indices(self, indices, /, dims):
    """Return the elements at ``indices`` of the last ``dims`` dimensions, counted as one."""
    planes, places = (_planes(x, dims) for x in (self, indices))
    taken = np.take_along_axis(planes, places, -1)
    return taken.reshape(indices.shape)


def _flat(shape: Any, indices: Any, dims: int, kind: Any) -> tuple[Any, Any, Any]:
    """Return zeros of ``shape``, the same with the last dimensions as one, and its indices."""
    result = np.zeros(shape, kind)
    return result, _planes(result, dims), _planes(indices, dims)


def _planes(x: Any, dims: int) -> Any:
    """Return ``x`` with its last dimensions as one, and those before them as another."""
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
    """Return images of ``output_size``, zero but for ``self`` at ``indices``."""
    return _unpooled(self, indices, tuple(output_size))


@op(
    self=lambda g, indices, output_size: from_indices(g, indices, len(output_size)),
    linear=True,
    node="MaxUnpool3DBackward0",
)
def max_unpool3d(self, indices, /, output_size):
    """Return volumes of ``output_size``, zero but for ``self`` at ``indices``."""
    return _unpooled(self, indices, tuple(output_size))
