"""Padding layers for signals, images and volumes."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_core.nn import functional as F
from autograd_core.nn.functional.sizes import Sizes
from autograd_core.nn.modules.module import OfFunction
from autograd_core.tensor import Tensor


class _Pad(OfFunction):
    """The base of padding layers. ``padding`` is one width for all sides, or one for each, those of
    the last dimension first."""

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        wide: Sequence[int] = (padding,) * (2 * self.dims) if isinstance(padding, int) else padding
        self.padding = tuple(wide)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad, mode="constant"):
    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad, dims=1):
    """Padding of signals with ``value``."""


class ConstantPad2d(_ConstantPad, dims=2):
    """Padding of images with ``value``."""


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad, dims=1):
    """Padding of signals with zeros."""


class ZeroPad2d(_ZeroPad, dims=2):
    """Padding of images with zeros."""


class ReflectionPad1d(_Pad, dims=1, mode="reflect"):
    """Padding of signals by reflection at their ends."""


class ReflectionPad2d(_Pad, dims=2, mode="reflect"):
    """Padding of images by reflection at their edges."""


class ReplicationPad1d(_Pad, dims=1, mode="replicate"):
    """Padding of signals that repeats their ends."""


class ReplicationPad2d(_Pad, dims=2, mode="replicate"):
    """Padding of images that repeats their edges."""


class CircularPad1d(_Pad, dims=1, mode="circular"):
    """Padding of signals that continues at the other end."""


class CircularPad2d(_Pad, dims=2, mode="circular"):
    """Padding of images that continues at the other edge."""
