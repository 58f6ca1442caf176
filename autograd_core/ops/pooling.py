"""Pooling over windows of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import Sample, op
from autograd_core.ops.elementwise import masked
from autograd_core.ops.windows import Windows

_SAMPLES = (
    {"kernel_size": (2, 2), "stride": (2, 2), "padding": (0, 0), "dilation": (1, 1)},
    {"kernel_size": (2, 3), "stride": (1, 2), "padding": (1, 1), "dilation": (1, 1)},
)
_PLACES = np.array([[[[3, 0], [1, 2]]]], np.int16)


@op(
    x=lambda g, places, x_shape, kernel_size, stride, padding, dilation: max_pool2d_backward(
        g, places, x_shape, kernel_size, stride, padding, dilation
    ),
    outputs="ans places",
    nondiff="places",
    hidden="places",
    node="MaxPool2DWithIndicesBackward0",
    saved_as="places:result1",
    samples=(Sample(((1, 2, 4, 4),), _SAMPLES[0]), Sample(((1, 1, 3, 4),), _SAMPLES[1])),
)
def max_pool2d(x, /, kernel_size, stride, padding=(0, 0), dilation=(1, 1)):
    """The largest element in each window of images (..., H, W), the first of equals.

    ``places`` says where in its window each was found, counting row by row.
    """
    windows = Windows(kernel_size, stride, padding, dilation)
    output = windows.output_size(x.shape[-2:])
    padded = _padded(x.shape, windows, x.dtype, -np.inf if x.dtype.kind == "f" else None)
    padded[(..., *windows.inside(x.shape[-2:]))] = x
    offsets = windows.offsets(padded, output, axis=x.ndim - 2)
    result = next(offsets)[2].copy()
    places = np.zeros(result.shape, np.int16)
    for i, j, patch in offsets:
        # a NaN is larger than all numbers, to PyTorch as to np.maximum
        np.putmask(places, ~(patch <= result) & (result == result), i * kernel_size[1] + j)
        np.maximum(result, patch, out=result)
    return result, places


@op(
    x=lambda g, places, kernel_size, stride, padding, dilation: max_pool2d_gather(
        g, places, kernel_size, stride, padding, dilation
    ),
    linear=True,
    samples=(Sample(((1, 1, 2, 2), _PLACES), {"shape": (1, 1, 4, 4), **_SAMPLES[0]}),),
)
def max_pool2d_backward(x, places, /, shape, kernel_size, stride, padding, dilation):
    """Zeros of ``shape`` to which ``x`` was added at ``places`` of the windows."""
    windows = Windows(kernel_size, stride, padding, dilation)
    padded = _padded(shape, windows, x.dtype, 0)
    for i, j, patch in windows.offsets(padded, x.shape[-2:], axis=len(shape) - 2):
        patch += masked(x, places == i * kernel_size[1] + j)
    return padded[(..., *windows.inside(shape[-2:]))]


@op(
    x=lambda g, places, x_shape, kernel_size, stride, padding, dilation: max_pool2d_backward(
        g, places, x_shape, kernel_size, stride, padding, dilation
    ),
    linear=True,
    samples=(Sample(((1, 1, 4, 4), _PLACES), _SAMPLES[0]),),
)
def max_pool2d_gather(x, places, /, kernel_size, stride, padding, dilation):
    """The elements of ``x`` at ``places`` of the windows."""
    windows = Windows(kernel_size, stride, padding, dilation)
    padded = _padded(x.shape, windows, x.dtype, 0)
    padded[(..., *windows.inside(x.shape[-2:]))] = x
    result = np.empty(places.shape, x.dtype)
    for i, j, patch in windows.offsets(padded, places.shape[-2:], axis=x.ndim - 2):
        np.copyto(result, patch, where=places == i * kernel_size[1] + j)
    return result


def _padded(shape: tuple[int, ...], windows: Windows, kind: Any, value: Any) -> Any:
    """An array for images of ``shape`` with their padding, filled with ``value``."""
    top, left = windows.padding
    lowest = np.iinfo(kind).min if value is None else value
    *before, height, width = shape
    return np.full((*before, height + 2 * top, width + 2 * left), lowest, kind)
