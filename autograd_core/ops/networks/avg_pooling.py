"""Means of windows of images."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from autograd_core.op import Second, op
from autograd_core.ops.checks import check_implemented
from autograd_core.ops.networks.pooling import padded_image, pooled_size
from autograd_core.ops.networks.windows import Windows


def _means_of(dims: int) -> Any:
    """Return the rules of means of windows of so many dimensions."""
    return op(
        self=lambda g, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
        divisor_override: avg_pool_backward(
            g, self.shape, kernel_size, stride, padding, ceil_mode, count_include_pad,
            divisor_override
        ),
        second=Second(
            f"AvgPool{dims}DBackwardBackward0",
            lambda g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override:
            _any_avg_pool(
                g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
            ),
        ),
        linear=True,
        node=f"AvgPool{dims}DBackward0",
    )  # fmt: skip


@_means_of(2)
def avg_pool2d(
    self, /, kernel_size, stride, padding=(0, 0), ceil_mode=False, count_include_pad=True,
    divisor_override=None,
):  # fmt: skip
    """Return the mean of each window of images (..., H, W)."""
    if self.dtype != np.int64:
        check_implemented("avg_pool2d", self)
    windows = Windows(kernel_size, stride, padding, (1,) * len(kernel_size))
    return _means(self, windows, ceil_mode, count_include_pad, divisor_override)


@_means_of(3)
def avg_pool3d(
    self, /, kernel_size, stride, padding=(0, 0, 0), ceil_mode=False, count_include_pad=True,
    divisor_override=None,
):  # fmt: skip
    """Return the mean of each window of volumes (..., D, H, W)."""
    if self.dtype != np.int64:
        check_implemented("avg_pool3d_out_frame", self, half=False)
    windows = Windows(kernel_size, stride, padding, (1,) * len(kernel_size))
    return _means(self, windows, ceil_mode, count_include_pad, divisor_override)


def _means(
    x: Any, windows: Windows, ceil_mode: bool, include_pad: bool, divisor: int | None
) -> Any:
    axis = x.ndim - len(windows.kernel)
    size = x.shape[axis:]
    output = pooled_size(x, windows, ceil_mode)
    padded = x
    if windows.padded_size(size, output) != size:
        padded = padded_image(x.shape, windows, output, x.dtype, 0)
        padded[(..., *windows.inside(size))] = x
    # one dimension after the other: the sums of sums are those of the windows
    for places in _sides(windows, output, axis):
        total = padded[places[0]].copy()
        for place in places[1:]:
            total += padded[place]
        padded = total
    counts = _counts(windows, size, output, include_pad, divisor, x.dtype)
    if x.dtype.kind != "f":
        return np.sign(padded) * (np.abs(padded) // counts)  # towards 0, as C divides
    padded /= counts
    return padded


@lru_cache(maxsize=256)  # it takes as long as the rest of a small image
def _sides(windows: Windows, output: tuple[int, ...], axis: int) -> list[list[Any]]:
    """Return, per dimension of images from ``axis`` on, the places of the kernel's side."""
    sides = (Windows(*((values[n],) for values in windows)) for n in range(len(output)))
    return [side.places((output[n],), axis + n) for n, side in enumerate(sides)]


@lru_cache(maxsize=256)  # it takes as long as the rest of a small image
def _counts(
    windows: Windows, size: Any, output: Any, include_pad: bool, divisor: int | None, kind: Any
) -> Any:
    """Return what the sum of each window is divided by; to be read only."""
    if divisor is not None:
        return np.array(divisor).astype(kind)
    result = np.ones(())
    for axis, n in enumerate(size):
        kernel, stride, padding, _ = (values[axis] for values in windows)
        start = np.arange(output[axis]) * stride - padding
        end = np.minimum(start + kernel, n + padding)
        if not include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        result = result[..., None] * (end - start)
    return result.astype(kind)


@op(
    self=lambda g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: (
        _any_avg_pool(
            g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
    ),
    linear=True,
)
def avg_pool_backward(
    self, /, shape, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    """Return the gradient, of ``shape``, of what was averaged."""
    windows = Windows(kernel_size, stride, padding, (1,) * len(kernel_size))
    axis = len(shape) - len(kernel_size)
    size, output = shape[axis:], self.shape[axis:]
    counts = _counts(windows, size, output, count_include_pad, divisor_override, self.dtype)
    spread = self / counts
    whole = windows.padded_size(size, output)
    for dim, places in enumerate(_sides(windows, output, axis)):
        sides = list(spread.shape)
        sides[axis + dim] = whole[dim]
        tiles = kernel_size[dim] == stride[dim] and whole[dim] == kernel_size[dim] * output[dim]
        sums = np.empty(sides, self.dtype) if tiles else np.zeros(sides, self.dtype)
        for place in places:
            if tiles:
                sums[place] = spread
            else:
                sums[place] += spread
        spread = sums
    if spread.shape[axis:] == size:
        return spread
    return np.ascontiguousarray(spread[(..., *windows.inside(size))])


def _any_avg_pool(g: Any, kernel_size: Any, *attributes: Any) -> Any:
    pool = avg_pool2d if len(kernel_size) == 2 else avg_pool3d
    return pool(g, kernel_size, *attributes)
