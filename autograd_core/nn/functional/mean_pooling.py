"""Average and norm pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_core import functions
from autograd_core.nn.functional.sizes import Sizes, flat, signal
from autograd_core.nn.functional.window_checks import (
    adaptive_output,
    check_pooled,
    check_signals,
    one_size,
    pool_windows,
)
from autograd_core.ops.networks import avg_pooling, resample
from autograd_core.tensor import Tensor


def avg_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window of signals (N, C, L) or (C, L)."""
    check_signals("avg_pool1d", input)
    kernel = one_size("avg_pool1d", "kernel_size", kernel_size)
    step = (
        kernel if stride is None or stride in ((), []) else one_size("avg_pool1d", "stride", stride)
    )
    outside = one_size("avg_pool1d", "padding", padding)
    pooled = avg_pool2d(
        flat(input), (1, *kernel), (1, *step), (0, *outside), ceil_mode, count_include_pad
    )
    return signal(pooled)


def _mean(dims: int, x: Tensor, kernel_size: Any, stride: Any, padding: Any, *rest: Any) -> Tensor:
    name = f"avg_pool{dims}d"
    windows = pool_windows(name, dims, kernel_size, stride, padding)
    check_pooled(name, dims, x)
    if rest[-1] == 0:
        raise RuntimeError("divisor must be not zero")
    pool = avg_pooling.avg_pool2d if dims == 2 else avg_pooling.avg_pool3d
    return pool(x, *windows[:3], *rest)


def avg_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the mean of each window of images (N, C, H, W) or (C, H, W)."""
    return _mean(
        2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the mean of each window of volumes (N, C, D, H, W) or (C, D, H, W)."""
    return _mean(
        3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def _adaptive_mean(dims: int, x: Tensor, output_size: Any) -> Tensor:
    asked = output_size if isinstance(output_size, Sequence) else (output_size,) * dims
    if set(asked) == {1} and len(asked) == dims:
        return functions.mean(x, tuple(range(-1, -dims - 1, -1)), True)
    output = adaptive_output(f"adaptive_avg_pool{dims}d", dims, x, output_size)
    size = x._shape[-dims:]
    maps = tuple(resample.mean_of_windows(n, w) for n, w in zip(size, output, strict=True))
    return resample.ADAPTIVE_MEAN[dims](x, maps)


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Return the means of ``output_size`` windows of signals."""
    check_signals("adaptive_avg_pool1d", input)
    size = one_size("adaptive_avg_pool1d", "output_size", output_size)
    return signal(_adaptive_mean(2, flat(input), (1, *size)))


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Return the means of ``output_size`` windows of images."""
    return _adaptive_mean(2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Return the means of ``output_size`` windows of volumes."""
    return _adaptive_mean(3, input, output_size)
