"""Padding layers for signals, images and volumes."""

from __future__ import annotations

from functools import partial

from autograd_core.nn import functional as F
from autograd_core.nn.functional.sizes import Sizes
from autograd_core.nn.modules.layer import Layer
from autograd_core.tensor import Tensor

_reflect = partial(F.pad, mode="reflect")
_replicate = partial(F.pad, mode="replicate")
_wrap = partial(F.pad, mode="circular")


class _Pad(Layer):
    """The base of padding layers. ``padding`` is one width for all sides, or one for each, those of
    the last dimension first."""

    padding: Sizes

    def __post_init__(self) -> None:
        wide = self.padding
        self.padding = (wide,) * (2 * self.dims) if isinstance(wide, int) else tuple(wide)

    def forward(self, input: Tensor) -> Tensor:
        return self.function(input, self.padding)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    value: float

    def forward(self, input: Tensor) -> Tensor:
        return self.function(input, self.padding, value=self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad, dims=1, function=F.pad):
    """Padding of signals with ``value``."""


class ConstantPad2d(_ConstantPad, dims=2, function=F.pad):
    """Padding of images with ``value``."""


class ZeroPad1d(_Pad, dims=1, function=F.pad):
    """Padding of signals with zeros."""


class ZeroPad2d(_Pad, dims=2, function=F.pad):
    """Padding of images with zeros."""


class ReflectionPad1d(_Pad, dims=1, function=_reflect):
    """Padding of signals by reflection at their ends."""


class ReflectionPad2d(_Pad, dims=2, function=_reflect):
    """Padding of images by reflection at their edges."""


class ReplicationPad1d(_Pad, dims=1, function=_replicate):
    """Padding of signals that repeats their ends."""


class ReplicationPad2d(_Pad, dims=2, function=_replicate):
    """Padding of images that repeats their edges."""


class CircularPad1d(_Pad, dims=1, function=_wrap):
    """Padding of signals that continues at the other end."""


class CircularPad2d(_Pad, dims=2, function=_wrap):
    """Padding of images that continues at the other edge."""
