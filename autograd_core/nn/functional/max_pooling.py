"""Max pooling and unpooling."""

from __future__ import annotations

from typing import Any

from autograd_core.nn.functional.reduction import check_constant
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
from autograd_core.ops.networks import fractional_pooling, pooling, unpooling
from autograd_core.random import generator
from autograd_core.tensor import Tensor


def _largest(
    dims: int, x: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool, return_indices: bool,
) -> Any:  # fmt: skip
    name = f"max_pool{dims}d"
    windows = pool_windows(name, dims, kernel_size, stride, padding, dilation)
    check_pooled(name, dims, x)
    pool = pooling.max_pool2d if dims == 2 else pooling.max_pool3d
    found = pool(x, *windows, ceil_mode)
    if not return_indices:
        return found
    # hidden from the caller of the op, and seldom asked for: found again
    _, within = pool.op.kernel(x.array, *windows, ceil_mode)  # type: ignore[attr-defined]
    indices = pooling.indices_of(within, windows, x._shape[x.ndim - dims :])
    return found, Tensor.from_array(indices)


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
    found = _largest(
        2, flat(input), (1, *kernel), (1, *step), (0, *outside), (1, *spread), ceil_mode,
        return_indices,
    )  # fmt: skip
    return tuple(signal(each) for each in found) if return_indices else signal(found)


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
    found = unpooling.adaptive_max_pool2d(flat(input), (1, *size))
    return tuple(signal(each) for each in found) if return_indices else signal(found[0])


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest element of each of ``output_size`` windows of images."""
    size = adaptive_output("adaptive_max_pool2d", 2, input, output_size)
    found = unpooling.adaptive_max_pool2d(input, size)
    return found if return_indices else found[0]


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest element of each of ``output_size`` windows of volumes."""
    size = adaptive_output("adaptive_max_pool3d", 3, input, output_size)
    found = unpooling.adaptive_max_pool3d(input, size)
    return found if return_indices else found[0]


def _fractional(
    dims: int, x: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any,
    return_indices: bool, samples: Tensor | None,
) -> Any:  # fmt: skip
    if output_size is None and output_ratio is None:
        raise ValueError(
            f"fractional_max_pool{dims}d requires specifying either an output_size or an "
            "output_ratio"
        )
    name = f"fractional_max_pool{dims}d"
    for option, value in (("kernel_size", kernel_size), ("output_size", output_size)):
        if value is not None and len(sizes(value, dims)) != dims:
            raise RuntimeError(f"{name}: {option} must either be a single Int or tuple of Ints")
    name += "_out" if dims == 3 else ""
    if x.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(x.shape)}"
        )
    size = x._shape[-dims:]
    if 0 in x._shape[1:]:
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for "
            f"non-batch dimensions, but got{list(x.shape)} with dimension "
            f"{x._shape.index(0, 1)} being empty."
        )
    if output_size is None:
        ratios = (output_ratio,) * dims if isinstance(output_ratio, float) else output_ratio
        output_size = [int(n * ratio) for n, ratio in zip(size, ratios, strict=True)]
    window, output = sizes(kernel_size, dims), sizes(output_size, dims)
    for side, k, o, n in zip(
        ("time", "height", "width")[-dims:], window, output, size, strict=True
    ):
        if o + k - 1 > n - (dims == 3):
            raise RuntimeError(f"{name}(): pool {side} {k} too large relative to input {side} {n}")
    batch, channels = x._shape[:-dims] if x.ndim == dims + 2 else (1, x._shape[0])
    if samples is not None:
        _check_samples(samples, batch, channels, dims)
    drawn = generator().random((batch, channels, dims)) if samples is None else samples.array
    check_constant(f"fractional_max_pool{dims}d", random_samples=samples)
    if samples is not None and samples.dtype is not x.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    pool = fractional_pooling.fractional_max_pool2d
    if dims == 3:
        pool = fractional_pooling.fractional_max_pool3d
    found = pool(x, window, output, drawn)
    return found if return_indices else found[0]


def _check_samples(samples: Tensor, batch: int, channels: int, dims: int) -> None:
    what = "Expect _random_samples"
    if samples.ndim != 3:
        raise RuntimeError(f"{what} to have 3 dimensions, got {samples.ndim}")
    if samples._shape[0] < batch:
        raise RuntimeError(f"{what}.size(0) no less then input batch size.")
    if samples._shape[1] != channels:
        raise RuntimeError(f"{what}.size(1) equals to input channel size.")
    if samples._shape[2] != dims:
        raise RuntimeError(f"{what}.size(2) equals to {dims}; got {samples._shape[2]}.")


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return the largest elements of randomly spaced windows of images (Graham 2014)."""
    return _fractional(
        2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return the largest elements of randomly spaced windows of volumes (Graham 2014)."""
    return _fractional(
        3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
