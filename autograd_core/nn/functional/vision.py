"""Convolution, pooling and the shuffling of pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_core.functions import reshape
from autograd_core.ops import convolution, pooling, shape
from autograd_core.tensor import Tensor

Pair = int | Sequence[int]


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Tensor:
    """Images (N, C, H, W), or one (C, H, W), under the kernels (O, C / groups, h, w)."""
    if input.ndim not in (3, 4):
        raise RuntimeError(
            "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: "
            f"{list(input.shape)}"
        )
    options = pair(stride), pair(padding), pair(dilation), groups
    if input.ndim == 3:
        one = convolution.conv2d(shape.unsqueeze(input, 0), weight, bias, *options)
        return shape.squeeze_dim(one, 0)
    return convolution.conv2d(input, weight, bias, *options)


def max_pool2d(
    input: Tensor,
    kernel_size: Pair,
    stride: Pair | None = None,
    padding: Pair = 0,
    dilation: Pair = 1,
) -> Tensor:
    """The largest element in each window of images (N, C, H, W) or (C, H, W).

    Windows do not overlap unless ``stride`` says so.
    """
    kernel, outside = pair(kernel_size), pair(padding)
    if any(2 * p > k for p, k in zip(outside, kernel, strict=True)):
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={outside[0]}, "
            f"kernel_size={kernel[0]} and dilation={pair(dilation)[0]}"
        )
    step = kernel if stride is None else pair(stride)
    return pooling.max_pool2d(input, kernel, step, outside, pair(dilation))


def pair(value: Any) -> tuple[int, int]:
    """A number for both dimensions, or one for each."""
    return (value, value) if isinstance(value, int) else tuple(value)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Channels (..., C * r * r, H, W) spread over images (..., C, H * r, W * r)."""
    *batch, channels, height, width = input._shape
    r = upscale_factor
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}"
        )
    n = len(batch)
    parts = reshape(input, (*batch, channels // (r * r), r, r, height, width))
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return reshape(
        shape.permute(parts, order), (*batch, channels // (r * r), height * r, width * r)
    )


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The opposite of :func:`pixel_shuffle`."""
    *batch, channels, height, width = input._shape
    r = downscale_factor
    if height % r or width % r:
        side, size = ("height", height) if height % r else ("width", width)
        raise RuntimeError(
            f"pixel_unshuffle expects {side} to be divisible by downscale_factor, but "
            f"input.size({-2 if side == 'height' else -1})={size} is not divisible by {r}"
        )
    n = len(batch)
    parts = reshape(input, (*batch, channels, height // r, r, width // r, r))
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return reshape(shape.permute(parts, order), (*batch, channels * r * r, height // r, width // r))


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels of (N, C, ...) dealt out: one of each group in turn."""
    batch, channels, *rest = input._shape
    parts = reshape(input, (batch, groups, channels // groups, *rest))
    return reshape(shape.transpose(parts, 1, 2), input._shape)
