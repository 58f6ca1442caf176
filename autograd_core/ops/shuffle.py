"""Pixels and channels in another order."""

from __future__ import annotations

import numpy as np

from autograd_core.op import Sample, op


@op(
    x=lambda g, factor: pixel_unshuffle(g, factor),
    linear=True,
    samples=(Sample(((2, 8, 1, 2),), {"factor": 2}),),
)
def pixel_shuffle(x, /, factor):
    """Channels (..., C * factor**2, H, W) spread over images (..., C, H * factor, W * factor)."""
    _check("pixel_shuffle", "upscale_factor", x, factor)
    *batch, channels, height, width = x.shape
    if channels % (factor * factor):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {factor**2}"
        )
    parts = x.reshape(*batch, channels // (factor * factor), factor, factor, height, width)
    n = len(batch)
    parts = parts.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return parts.reshape(*batch, channels // (factor * factor), height * factor, width * factor)


def _check(name, option, x, factor):
    if x.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with "
            f"{x.ndim} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {option}, but got {factor}")


@op(
    x=lambda g, factor: pixel_shuffle(g, factor),
    linear=True,
    samples=(Sample(((2, 2, 2, 4),), {"factor": 2}),),
)
def pixel_unshuffle(x, /, factor):
    """The opposite of :func:`pixel_shuffle`."""
    _check("pixel_unshuffle", "downscale_factor", x, factor)
    *batch, channels, height, width = x.shape
    for side, size, dim in (("height", height, -2), ("width", width, -1)):
        if size % factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {side} to be divisible by downscale_factor, but "
                f"input.size({dim})={size} is not divisible by {factor}"
            )
    parts = x.reshape(*batch, channels, height // factor, factor, width // factor, factor)
    n = len(batch)
    parts = parts.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return parts.reshape(*batch, channels * factor * factor, height // factor, width // factor)


@op(
    x=lambda g, x_shape, groups: channel_shuffle(g, x_shape[1] // groups),
    linear=True,
    samples=(Sample(((1, 6, 2),), {"groups": 2}),),
)
def channel_shuffle(x, /, groups):
    """The channels of (N, C, ...) dealt out: one of each group in turn."""
    if x.ndim < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(x.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    batch, channels, *rest = x.shape
    if channels % groups:
        raise RuntimeError(
            "Number of channels must be divisible by groups. Got "
            f"{channels} channels and {groups} groups."
        )
    parts = x.reshape(batch, groups, channels // groups, *rest).swapaxes(1, 2)
    return np.array(parts).reshape(x.shape)
