"""Pooling, and the way back: what was largest, where it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_core import functions
from autograd_core.nn.functional.sizes import Sizes, flat, signal, sizes
from autograd_core.nn.functional.window_checks import (
    adaptive_output,
    check_pooled,
    check_signal_windows,
    check_signals,
    one_size,
    pool_windows,
)
from autograd_core.ops.checks import check_implemented
from autograd_core.ops.networks import avg_pooling, pooling, resample, unpooling
from autograd_core.ops.shaping import shape
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
    step = _step_of("avg_pool1d", kernel, stride)
    outside = one_size("avg_pool1d", "padding", padding)
    pooled = avg_pool2d(
        flat(input), (1, *kernel), (1, *step), (0, *outside), ceil_mode, count_include_pad
    )
    return signal(pooled)


def _step_of(name: str, kernel: tuple[int], stride: Any) -> tuple[int]:
    return kernel if stride is None or stride in ((), []) else one_size(name, "stride", stride)


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
    # fmt: off
    kernel, outside, spread = (
        one_size("max_pool1d", name, value)
        for name, value in (("kernel_size", kernel_size), ("padding", padding),
                            ("dilation", dilation))
    )
    step = _step_of("max_pool1d", kernel, stride)
    pooled = _largest(
        2, flat(input), (1, *kernel), (1, *step), (0, *outside), (1, *spread), ceil_mode,
        return_indices,
    )
    # fmt: on
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


def _unpooled_size(
    x: Tensor, dims: int, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[int, ...]:
    kernel, outside = sizes(kernel_size, dims), sizes(padding, dims)
    step = kernel if stride is None else sizes(stride, dims)
    usual = tuple(
        (n - 1) * s + k - 2 * p
        for n, s, k, p in zip(x._shape[-dims:], step, kernel, outside, strict=True)
    )
    if output_size is None:
        return usual
    if len(output_size) not in (dims, dims + 2):
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it "
            f"has a length of '{len(output_size)}'"
        )
    asked = tuple(output_size)[-dims:]
    for want, n, s in zip(asked, usual, step, strict=True):
        if not n - s < want < n + s:
            raise ValueError(
                f'invalid output_size "{asked}" (dim 0 must be between {n - s} and {n + s})'
            )
    return asked


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Return signals with the elements of ``input`` at ``indices``, zero elsewhere."""
    size = _unpooled_size(input, 1, kernel_size, stride, padding, output_size)
    column = shape.unsqueeze(input, -1), shape.unsqueeze(indices, -1)
    return shape.squeeze_dim(unpooling.max_unpool2d(*column, (*size, 1)), -1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Return images with the elements of ``input`` at ``indices``, zero elsewhere."""
    size = _unpooled_size(input, 2, kernel_size, stride, padding, output_size)
    return unpooling.max_unpool2d(input, indices, size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Return volumes with the elements of ``input`` at ``indices``, zero elsewhere."""
    size = _unpooled_size(input, 3, kernel_size, stride, padding, output_size)
    return unpooling.max_unpool3d(input, indices, size)
