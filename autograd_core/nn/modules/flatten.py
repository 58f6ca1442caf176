"""Layers that change shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_core import functions
from autograd_core.nn import functional as F
from autograd_core.nn.functional.sizes import Sizes
from autograd_core.nn.modules.layer import Layer, OfFunction
from autograd_core.nn.modules.module import Module
from autograd_core.tensor import Tensor


class Identity(Module):
    """The identity: it returns its input, whatever the arguments are."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Flatten(OfFunction, function=functions.flatten):
    """A layer that joins the dimensions from ``start_dim`` to ``end_dim``; by default all but the
    first."""

    start_dim: int = 1
    end_dim: int = -1
    shown = ("start_dim", "end_dim")


class Unflatten(Layer):
    """A layer that splits the dimension ``dim`` into several of the sizes ``unflattened_size``."""

    dim: int
    unflattened_size: Sequence[int]
    shown = ("dim", "unflattened_size")

    def __post_init__(self) -> None:
        self.unflattened_size = tuple(self.unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        return functions.unflatten(input, self.dim, self.unflattened_size)


class PixelShuffle(OfFunction, function=F.pixel_shuffle):
    """A layer that rearranges channels (..., C * r * r, H, W) into images (..., C, H * r, W *
    r)."""

    upscale_factor: int
    shown = ("upscale_factor",)


class PixelUnshuffle(OfFunction, function=F.pixel_unshuffle):
    """The inverse of :class:`PixelShuffle`."""

    downscale_factor: int
    shown = ("downscale_factor",)


class ChannelShuffle(OfFunction, function=F.channel_shuffle):
    """A layer that reorders the channels of (N, C, ...): one from each group in turn."""

    groups: int
    shown = ("groups",)


class Unfold(OfFunction, function=F.unfold):
    """The windows of images (N, C, H, W) as columns (N, C * h * w, windows)."""

    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1
    shown = ("kernel_size", "dilation", "padding", "stride")


class Fold(OfFunction, function=F.fold):
    """Images from the columns of :class:`Unfold`; elements of overlapping windows are added."""

    output_size: Sizes
    kernel_size: Sizes
    dilation: Sizes = 1
    padding: Sizes = 0
    stride: Sizes = 1
    shown = ("output_size", *Unfold.shown)


class Upsample(OfFunction, function=F.interpolate):
    """A layer that resizes to ``size``, or by ``scale_factor``, as :func:`interpolate` does."""

    size: Sizes | None = None
    scale_factor: float | Sequence[float] | None = None
    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def __post_init__(self) -> None:
        self.name = type(self).__name__
        factor = self.scale_factor
        if isinstance(factor, Sequence):
            self.scale_factor = tuple(map(float, factor))
        elif factor is not None:
            self.scale_factor = float(factor)

    def extra_repr(self) -> str:
        given = "size" if self.scale_factor is None else "scale_factor"
        return f"{given}={getattr(self, given)!r}, mode={self.mode!r}"
