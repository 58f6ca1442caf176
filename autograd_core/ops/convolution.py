"""Convolution in two dimensions, as one matrix product over columns of image patches.

The output and the gradients of image and weight are each bilinear in what they are made of,
and the derivatives of each are the other two: three entries, closed under differentiation.
Inside, images lie as (C, H, W, N), so that copying patches copies long runs of memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import Sample, op
from autograd_core.ops.checks import check_same_dtype
from autograd_core.ops.reduce import sum_dim
from autograd_core.ops.windows import Windows

_SAMPLES = (
    {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1},
    {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2), "groups": 1},
    {"stride": (1, 1), "padding": (1, 1), "dilation": (1, 1), "groups": 2},
)


@op(
    x=lambda g, weight, x_shape, stride, padding, dilation, groups: conv2d_input(
        g, weight, x_shape, stride, padding, dilation, groups
    ),
    weight=lambda g, x, weight_shape, stride, padding, dilation, groups: conv2d_weight(
        g, x, weight_shape, stride, padding, dilation, groups
    ),
    bias=lambda g: sum_dim(g, (0, 2, 3)),
    node="ConvolutionBackward0",
    saved_as="x:input",
    samples=(
        Sample(((2, 2, 3, 3), (2, 2, 2, 2), (2,)), _SAMPLES[0]),
        Sample(((1, 1, 4, 4), (2, 1, 2, 2), None), _SAMPLES[1]),
        Sample(((1, 2, 2, 2), (2, 1, 2, 2), (2,)), _SAMPLES[2]),
    ),
)
def conv2d(x, weight, bias=None, /, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
    """Images ``x`` (N, C, H, W) under the kernels ``weight`` (O, C / groups, h, w): (N, O, H', W').

    Groups of channels are convolved separately.
    """
    windows = Windows(weight.shape[2:], stride, padding, dilation)
    check_same_dtype(x, weight, bias)
    _check(x, weight, bias, groups)
    columns, size = _columns(x, windows)
    product = np.matmul(_grouped(weight, groups), columns.reshape(groups, -1, columns.shape[-1]))
    result = product.reshape(len(weight), *size, len(x)).transpose(3, 0, 1, 2)
    if bias is None:
        return np.ascontiguousarray(result)
    return np.add(result, bias[:, None, None], order="C")


@op(
    grad=lambda g, weight, stride, padding, dilation, groups: conv2d(
        g, weight, None, stride, padding, dilation, groups
    ),
    weight=lambda g, grad, weight_shape, stride, padding, dilation, groups: conv2d_weight(
        grad, g, weight_shape, stride, padding, dilation, groups
    ),
    linear=True,
    samples=(
        Sample(((1, 2, 2, 2), (2, 1, 2, 2)), {"shape": (1, 1, 3, 3), **_SAMPLES[0]}),
        Sample(((1, 2, 3, 2), (2, 1, 2, 2)), {"shape": (1, 1, 4, 4), **_SAMPLES[1]}),
        Sample(((1, 2, 3, 3), (2, 1, 2, 2)), {"shape": (1, 2, 2, 2), **_SAMPLES[2]}),
    ),
)
def conv2d_input(grad, weight, /, shape, stride, padding, dilation, groups):
    """The gradient, of ``shape``, of the images that :func:`conv2d` was given."""
    windows = Windows(weight.shape[2:], stride, padding, dilation)
    count, channels, *size = shape
    output = grad.shape[2:]
    rows = _rows(grad).reshape(groups, len(weight) // groups, -1)
    columns = np.matmul(_grouped(weight, groups).swapaxes(1, 2), rows)
    columns = columns.reshape(channels, *windows.kernel, *output, count)
    padded = _padded((channels, *size, count), windows, grad.dtype)
    for i, j, patch in windows.offsets(padded, output, axis=1):
        patch += columns[:, i, j]
    return np.ascontiguousarray(padded[(slice(None), *windows.inside(size))].transpose(3, 0, 1, 2))


@op(
    grad=lambda g, x, stride, padding, dilation, groups: conv2d(
        x, g, None, stride, padding, dilation, groups
    ),
    x=lambda g, grad, x_shape, stride, padding, dilation, groups: conv2d_input(
        grad, g, x_shape, stride, padding, dilation, groups
    ),
    linear=True,
    samples=(
        Sample(((1, 2, 2, 2), (1, 1, 3, 3)), {"shape": (2, 1, 2, 2), **_SAMPLES[0]}),
        Sample(((1, 2, 3, 2), (1, 1, 4, 4)), {"shape": (2, 1, 2, 2), **_SAMPLES[1]}),
        Sample(((1, 2, 3, 3), (1, 2, 2, 2)), {"shape": (2, 1, 2, 2), **_SAMPLES[2]}),
    ),
)
def conv2d_weight(grad, x, /, shape, stride, padding, dilation, groups):
    """The gradient, of ``shape``, of the kernels that :func:`conv2d` was given."""
    columns, _ = _columns(x, Windows(shape[2:], stride, padding, dilation))
    rows = _rows(grad).reshape(groups, shape[0] // groups, -1)
    return np.matmul(rows, columns.reshape(groups, -1, rows.shape[-1]).swapaxes(1, 2)).reshape(
        shape
    )


def _columns(x: Any, windows: Windows) -> tuple[Any, tuple[int, int]]:
    """What lies in each window of the images, (C * h * w, H' * W' * N), and the size (H', W')."""
    count, channels, *size = x.shape
    output = windows.output_size(size)
    padded = _padded((channels, *size, count), windows, x.dtype)
    padded[(slice(None), *windows.inside(size))] = x.transpose(1, 2, 3, 0)
    columns = np.empty((channels, *windows.kernel, *output, count), x.dtype)
    for i, j, patch in windows.offsets(padded, output, axis=1):
        columns[:, i, j] = patch
    return columns.reshape(channels * windows.kernel[0] * windows.kernel[1], -1), output


def _padded(shape: tuple[int, ...], windows: Windows, kind: Any) -> Any:
    """Zeros for images (C, H, W, N) with their padding."""
    channels, height, width, count = shape
    top, left = windows.padding
    return np.zeros((channels, height + 2 * top, width + 2 * left, count), kind)


def _rows(grad: Any) -> Any:
    """(N, O, H, W) as (O, H * W * N), a contiguous copy."""
    return np.ascontiguousarray(grad.transpose(1, 2, 3, 0)).reshape(grad.shape[1], -1)


def _grouped(weight: Any, groups: int) -> Any:
    return weight.reshape(groups, len(weight) // groups, -1)


def _check(x: Any, weight: Any, bias: Any, groups: int) -> None:
    if x.shape[1] != weight.shape[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected "
            f"input{list(x.shape)} to have {weight.shape[1] * groups} channels, but got "
            f"{x.shape[1]} channels instead"
        )
    if len(weight) % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size {list(weight.shape)} instead"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with "
            f"{len(weight)} elements, but got bias of size {list(bias.shape)} instead"
        )
