"""Pixels and channels in another order."""

from __future__ import annotations

import numpy as np

from autograd_core.op import op


@op(self=lambda g, upscale_factor: pixel_unshuffle(g, upscale_factor), linear=True)
def pixel_shuffle(self, /, upscale_factor):
    """Return channels (..., C * factor**2, H, W) spread over images (..., C, H * factor, W *
    factor)."""
    _check("pixel_shuffle", "upscale_factor", self, upscale_factor)
    *batch, channels, height, width = self.shape
    if channels % (upscale_factor * upscale_factor):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by "
            f"{upscale_factor**2}"
        )
    parts = self.reshape(
        *batch,
        channels // (upscale_factor * upscale_factor),
        upscale_factor,
        upscale_factor,
        height,
        width,
    )
    n = len(batch)
    parts = parts.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return parts.reshape(
        *batch,
        channels // (upscale_factor * upscale_factor),
        height * upscale_factor,
        width * upscale_factor,
    )


def _check(name, option, x, factor):
    if x.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with "
            f"{x.ndim} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {option}, but got {factor}")


@op(self=lambda g, downscale_factor: pixel_shuffle(g, downscale_factor), linear=True)
def pixel_unshuffle(self, /, downscale_factor):
    """Return the inverse of :func:`pixel_shuffle`."""
    _check("pixel_unshuffle", "downscale_factor", self, downscale_factor)
    *batch, channels, height, width = self.shape
    for side, size, dim in (("height", height, -2), ("width", width, -1)):
        if size % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {side} to be divisible by downscale_factor, but "
                f"input.size({dim})={size} is not divisible by {downscale_factor}"
            )
    parts = self.reshape(
        *batch,
        channels,
        height // downscale_factor,
        downscale_factor,
        width // downscale_factor,
        downscale_factor,
    )
    n = len(batch)
    parts = parts.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return parts.reshape(
        *batch,
        channels * downscale_factor * downscale_factor,
        height // downscale_factor,
        width // downscale_factor,
    )


@op(self=lambda g, self_shape, groups: channel_shuffle(g, self_shape[1] // groups), linear=True)
def channel_shuffle(self, /, groups):
    """Reorder the channels of (N, C, ...): one of each group in turn."""
    if self.ndim < 3:
        raise RuntimeError(
            "channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(self.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    batch, channels, *rest = self.shape
    if channels % groups:
        raise RuntimeError(
            "Number of channels must be divisible by groups. Got "
            f"{channels} channels and {groups} groups."
        )
    parts = self.reshape(batch, groups, channels // groups, *rest).swapaxes(1, 2)
    return np.array(parts).reshape(self.shape)
