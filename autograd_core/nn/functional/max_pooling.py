"""Max pooling and unpooling."""

from __future__ import annotations

from typing import Any

from autograd_core.nn.functional.sizes import Sizes, flat, signal
from autograd_core.nn.functional.window_checks import (
    adaptive_output,
    check_pooled,
    check_signal_windows,
    check_signals,
    one_size,
    pool_windows,
)
from autograd_core.ops.checks import check_implemented
from autograd_core.ops.networks import pooling, unpooling
from autograd_core.tensor import Tensor


def _largest(
    dims: int, x: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool, return_indices: bool,
) -> Any:  # fmt: skip
    name = f"max_pool{dims}d"
    windows = pool_windows(name, dims, kernel_size, stride, padding, dilation)
    check_pooled(name, dims, x)
    pool = pooling.max_pool2d if dims == 2 else pooling.max_pool3d
    pooled = pool(x, *windows, ceil_mode)
    if not return_indices:
        return pooled
    # hidden from the caller of the op, and seldom asked for: found again
    _, within = pool.op.kernel(x.array, *windows, ceil_mode)
    indices = pooling.indices_of(within, windows, x._shape[x.ndim - dims :])
    return pooled, Tensor.from_array(indices)


def max_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element in each window of signals (N, C, L) or (C, L)."""
    if return_indices:
        check_signals("max_pool1d", input)
    else:
        check_signal_windows(input, kernel_size, stride, padding, dilation)
        check_implemented("max_pool1d_impl", input.array)
    kernel, outside, spread = (
        one_size("max_pool1d", name, value)
        for name, value in (("kernel_size", kernel_size), ("padding", padding),
                            ("dilation", dilation))
    )  # fmt: skip
    step = (
        kernel if stride is None or stride in ((), []) else one_size("max_pool1d", "stride", stride)
    )
    pooled = _largest(
        2, flat(input), (1, *kernel), (1, *step), (0, *outside), (1, *spread), ceil_mode,
        return_indices,
    )  # fmt: skip
    return tuple(signal(tensor) for tensor in pooled) if return_indices else signal(pooled)


def max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element in each window of images (N, C, H, W) or (C, H, W).

    Windows do not overlap, unless ``stride`` is smaller. With ``return_indices``, the result is a
    pair that includes the index of each maximum in its flattened image.
    """
    return _largest(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest element in each window of volumes (N, C, D, H, W) or (C, D, H, W)."""
    return _largest(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest element of each of ``output_size`` windows of signals."""
    check_signals("adaptive_max_pool1d", input)
    size = adaptive_output("adaptive_max_pool1d", 1, input, output_size)
    pooled = unpooling.adaptive_max_pool2d(flat(input), (1, *size))
    return tuple(signal(tensor) for tensor in pooled) if return_indices else signal(pooled[0])


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest element of each of ``output_size`` windows of images."""
    size = adaptive_output("adaptive_max_pool2d", 2, input, output_size)
    pooled = unpooling.adaptive_max_pool2d(input, size)
    return pooled if return_indices else pooled[0]


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest element of each of ``output_size`` windows of volumes."""
    size = adaptive_output("adaptive_max_pool3d", 3, input, output_size)
    pooled = unpooling.adaptive_max_pool3d(input, size)
    return pooled if return_indices else pooled[0]
