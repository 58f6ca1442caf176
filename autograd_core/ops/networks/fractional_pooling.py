"""Pooling over windows that begin at random steps (Graham 2014)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import Second, op
from autograd_core.ops.checks import check_implemented
from autograd_core.ops.networks.pooling import best_places
from autograd_core.ops.networks.unpooling import at_indices, from_indices


def _starts(samples: Any, size: int, count: int, kernel: int) -> Any:
    """Return where the windows along one dimension begin, (planes, count)."""
    step = (size - kernel) / (count - 1) if count > 1 else 0.0
    numbers = np.arange(count)
    begins = ((numbers + samples[:, None]) * step).astype(np.int64)
    begins -= (samples * step).astype(np.int64)[:, None]
    begins[:, count - 1 :] = size - kernel
    return begins


def _largest(x: Any, kernel: Any, output: Any, samples: Any) -> tuple[Any, Any]:
    dims = len(kernel)
    check_implemented(f"fractional_max_pool{dims}d_out_frame", x)
    size = x.shape[x.ndim - dims :]
    planes = x.reshape(math.prod(x.shape[: x.ndim - dims]), math.prod(size))
    offsets = samples.reshape(math.prod(samples.shape[:-1]), dims)[: len(planes)]
    flat: Any = 0
    for axis in range(dims):
        # images have the sample of their last dimension first, volumes that of their first one
        sample = offsets[:, dims - 1 - axis if dims == 2 else axis]
        begins = _starts(sample, size[axis], output[axis], kernel[axis])
        place = begins[:, :, None] + np.arange(kernel[axis])
        around = [len(planes), *(1,) * (2 * dims)]
        around[1 + axis], around[1 + dims + axis] = output[axis], kernel[axis]
        flat = flat * size[axis] + place.reshape(around)
    whole = (len(planes), math.prod(output), math.prod(kernel))
    flat = np.broadcast_to(flat, (len(planes), *output, *kernel)).reshape(
        len(planes), whole[1] * whole[2]
    )
    windows = np.take_along_axis(planes, flat, 1).reshape(whole)
    best = best_places(windows)[..., None]
    shape = (*x.shape[: x.ndim - dims], *output)
    values = np.take_along_axis(windows, best, 2).reshape(shape)
    return values, np.take_along_axis(flat.reshape(windows.shape), best, 2).reshape(shape)


@op(
    self=lambda g, self, result1, output_size: at_indices(g, result1, self.shape, len(output_size)),
    second=Second(
        "FractionalMaxPool2DBackwardBackward0",
        lambda g, result1, output_size: from_indices(g, result1, len(output_size)),
    ),
    outputs="result result1",
    nondiff="result1",
    node="FractionalMaxPool2DBackward0",
)
def fractional_max_pool2d(self, /, kernel_size, output_size, samples):
    """Return the largest elements of windows of images, and where they are; ``samples`` (N, C, 2),
    from 0 to 1, say where windows begin."""
    return _largest(self, kernel_size, output_size, samples)


@op(
    self=lambda g, self, result1, output_size: at_indices(g, result1, self.shape, len(output_size)),
    second=Second(
        "FractionalMaxPool3DBackwardBackward0",
        lambda g, result1, output_size: from_indices(g, result1, len(output_size)),
    ),
    outputs="result result1",
    nondiff="result1",
    node="FractionalMaxPool3DBackward0",
    )  # fmt: skip
def fractional_max_pool3d(self, /, kernel_size, output_size, samples):
    """Return the largest elements of windows of volumes, and where they are; ``samples`` (N, C,
    3)."""
    return _largest(self, kernel_size, output_size, samples)
