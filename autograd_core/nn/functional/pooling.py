"""Pooling: the largest element or the mean of windows, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_core.nn.functional.convolution import Sizes, sizes
from autograd_core.ops import avg_pooling, elementwise, places, pooling, reduce, resample, shape
from autograd_core.ops.windows import Windows
from autograd_core.tensor import Tensor


def _check_dims(name: str, dims: int, x: Tensor) -> None:
    if x.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}: Expected {dims + 1}D or {dims + 2}D input, but got input of size: "
            f"{list(x.shape)}"
        )


def _flat(x: Tensor) -> Tensor:
    """A signal as an image of one row."""
    return shape.unsqueeze(x, -2)


def _signal(x: Tensor) -> Tensor:
    return shape.squeeze_dim(x, -2)


# --- the largest -------------------------------------------------------------------------------


def _largest(
    dims: int, x: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool, return_indices: bool,
) -> Any:  # fmt: skip
    kernel, outside, spread = (sizes(v, dims) for v in (kernel_size, padding, dilation))
    for p, k, d in zip(outside, kernel, spread, strict=True):
        if 2 * p > d * (k - 1) + 1:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={k} and dilation={d}"
            )
    step = kernel if stride is None or stride == [] else sizes(stride, dims)
    _check_dims(f"max_pool{dims}d", dims, x)
    pool = pooling.max_pool2d if dims == 2 else pooling.max_pool3d
    found = pool(x, kernel, step, outside, spread, ceil_mode)
    if not return_indices:
        return found
    # hidden from the caller of the op, and seldom asked for: found again
    _, within = pool.op.kernel(x.array, kernel, step, outside, spread, ceil_mode)  # type: ignore[attr-defined]
    windows = Windows(kernel, step, outside, spread)
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
    """The largest element in each window of signals (N, C, L) or (C, L)."""
    _check_dims("max_pool1d", 1, input)
    kernel, outside, spread = (sizes(v, 1) for v in (kernel_size, padding, dilation))
    step = kernel if stride is None else sizes(stride, 1)
    found = _largest(
        2, _flat(input), (1, *kernel), (1, *step), (0, *outside), (1, *spread), ceil_mode,
        return_indices,
    )  # fmt: skip
    return tuple(_signal(each) for each in found) if return_indices else _signal(found)


def max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element in each window of images (N, C, H, W) or (C, H, W).

    Windows do not overlap unless ``stride`` says so.  ``return_indices`` asks for a pair: also
    where in its image each was found, counting row by row.
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
    """The largest element in each window of volumes (N, C, D, H, W) or (C, D, H, W)."""
    return _largest(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _wanted(output_size: Any, size: Sequence[int]) -> tuple[int, ...]:
    """The size asked for, None standing for what there is."""
    wanted = output_size if isinstance(output_size, Sequence) else (output_size,) * len(size)
    return tuple(n if w is None else w for w, n in zip(wanted, size, strict=True))


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest element of each of ``output_size`` windows of signals."""
    wanted = _wanted(output_size, input._shape[-1:])
    found = places.adaptive_max_pool2d(_flat(input), (1, *wanted))
    return tuple(_signal(each) for each in found) if return_indices else _signal(found[0])


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest element of each of ``output_size`` windows of images."""
    found = places.adaptive_max_pool2d(input, _wanted(output_size, input._shape[-2:]))
    return found if return_indices else found[0]


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest element of each of ``output_size`` windows of volumes."""
    found = places.adaptive_max_pool3d(input, _wanted(output_size, input._shape[-3:]))
    return found if return_indices else found[0]


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
    wanted = tuple(output_size)[-dims:]
    for want, n, s in zip(wanted, usual, step, strict=True):
        if not n - s < want < n + s:
            raise ValueError(
                f'invalid output_size "{list(wanted)}" (dim 0 must be between {n - s} and {n + s})'
            )
    return wanted


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Signals with the elements of ``input`` at ``indices``, zero elsewhere."""
    size = _unpooled_size(input, 1, kernel_size, stride, padding, output_size)
    column = shape.unsqueeze(input, -1), shape.unsqueeze(indices, -1)
    return shape.squeeze_dim(places.max_unpool2d(*column, (*size, 1)), -1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Images with the elements of ``input`` at ``indices``, zero elsewhere."""
    size = _unpooled_size(input, 2, kernel_size, stride, padding, output_size)
    return places.max_unpool2d(input, indices, size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Volumes with the elements of ``input`` at ``indices``, zero elsewhere."""
    size = _unpooled_size(input, 3, kernel_size, stride, padding, output_size)
    return places.max_unpool3d(input, indices, size)


# --- means -------------------------------------------------------------------------------------


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
        _flat(input), (1, *kernel), (1, *step), (0, *outside), ceil_mode, count_include_pad
    )
    return _signal(found)


def _mean(dims: int, x: Tensor, kernel_size: Any, stride: Any, padding: Any, *rest: Any) -> Tensor:
    _check_dims(f"avg_pool{dims}d", dims, x)
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
    wanted = _wanted(output_size, size)
    if set(wanted) == {1}:
        return reduce.mean_dim(x, tuple(range(-dims, 0)), True)
    maps = tuple(resample.mean_of_windows(n, w) for n, w in zip(size, wanted, strict=True))
    return resample.ADAPTIVE_MEAN[dims](x, maps)


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The means of ``output_size`` windows of signals."""
    wanted = _wanted(output_size, input._shape[-1:])
    return _signal(_adaptive_mean(2, _flat(input), (1, *wanted)))


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
    kernel_size: int,
    stride: Sizes | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The ``norm_type``-norm of each window of signals."""
    pooled = avg_pool1d(input**norm_type, kernel_size, stride, 0, ceil_mode)
    return _power_mean(pooled, kernel_size, norm_type)


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
