"""Pooling: the mean, or the norm, of windows."""

from __future__ import annotations

from math import prod
from typing import Any

from autograd_core import functions
from autograd_core.nn.functional.sizes import Sizes, check_dims, flat, signal, sizes, wanted
from autograd_core.ops import avg_pooling, elementwise, resample
from autograd_core.tensor import Tensor


def avg_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of signals (N, C, L) or (C, L)."""
    kernel = sizes(kernel_size, 1)
    step = kernel if stride is None else sizes(stride, 1)
    outside = sizes(padding, 1)
    found = avg_pool2d(
        flat(input), (1, *kernel), (1, *step), (0, *outside), ceil_mode, count_include_pad
    )
    return signal(found)


def _mean(dims: int, x: Tensor, kernel_size: Any, stride: Any, padding: Any, *rest: Any) -> Tensor:
    check_dims(f"avg_pool{dims}d", dims, x)
    kernel, outside = sizes(kernel_size, dims), sizes(padding, dims)
    if any(2 * p > k for p, k in zip(outside, kernel, strict=True)):
        raise RuntimeError(
            "pad should be at most half of effective kernel size, but got "
            f"pad={max(outside)}, kernel_size={min(kernel)} and dilation=1"
        )
    if rest[-1] == 0:
        raise RuntimeError("divisor must be not zero")
    step = kernel if stride is None or stride == [] else sizes(stride, dims)
    pool = avg_pooling.avg_pool2d if dims == 2 else avg_pooling.avg_pool3d
    return pool(x, kernel, step, outside, *rest)


def avg_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of images (N, C, H, W) or (C, H, W)."""
    return _mean(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                 divisor_override)  # fmt: skip


def avg_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of volumes (N, C, D, H, W) or (C, D, H, W)."""
    return _mean(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
                 divisor_override)  # fmt: skip


def _adaptive_mean(dims: int, x: Tensor, output_size: Any) -> Tensor:
    size = x._shape[-dims:]
    output = wanted(output_size, size)
    if set(output) == {1}:
        return functions.mean(x, tuple(range(-dims, 0)), True)
    maps = tuple(resample.mean_of_windows(n, w) for n, w in zip(size, output, strict=True))
    return resample.ADAPTIVE_MEAN[dims](x, maps)


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The means of ``output_size`` windows of signals."""
    size = wanted(output_size, input._shape[-1:])
    return signal(_adaptive_mean(2, flat(input), (1, *size)))


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The means of ``output_size`` windows of images."""
    return _adaptive_mean(2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The means of ``output_size`` windows of volumes."""
    return _adaptive_mean(3, input, output_size)


def _power_mean(pooled: Tensor, area: int, norm_type: float) -> Tensor:
    size = elementwise.sign(pooled) * elementwise.relu(elementwise.abs(pooled))
    return (size * area) ** (1.0 / norm_type)


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The ``norm_type``-norm of each window of signals."""
    pooled = avg_pool1d(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return _power_mean(pooled, sizes(kernel_size, 1)[0], norm_type)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The ``norm_type``-norm of each window of images."""
    height, width = sizes(kernel_size, 2)
    pooled = avg_pool2d(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return _power_mean(pooled, height * width, norm_type)


def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The ``norm_type``-norm of each window of volumes."""
    pooled = avg_pool3d(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return _power_mean(pooled, prod(sizes(kernel_size, 3)), norm_type)
