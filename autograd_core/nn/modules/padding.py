"""Padding layers for signals, images and volumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from autograd_core.nn import functional as F
from autograd_core.nn.functional.sizes import Sizes
from autograd_core.nn.modules.module import Module
from autograd_core.tensor import Tensor


class _Pad(Module):
    """The base of padding layers. ``padding`` is one width for all sides, or one for each, those of
    the last dimension first."""

    dims: ClassVar[int]
    mode: ClassVar[str]

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        wide: Sequence[int] = (padding,) * (2 * self.dims) if isinstance(padding, int) else padding
        self.padding = tuple(wide)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    mode = "constant"

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Padding of signals with ``value``."""

    dims = 1


class ConstantPad2d(_ConstantPad):
    """Padding of images with ``value``."""

    dims = 2


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad):
    """Padding of signals with zeros."""

    dims = 1


class ZeroPad2d(_ZeroPad):
    """Padding of images with zeros."""

    dims = 2


class ReflectionPad1d(_Pad):
    """Padding of signals by reflection at their ends."""

    dims, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Padding of images by reflection at their edges."""

    dims, mode = 2, "reflect"


class ReplicationPad1d(_Pad):
    """Padding of signals that repeats their ends."""

    dims, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Padding of images that repeats their edges."""

    dims, mode = 2, "replicate"


class CircularPad1d(_Pad):
    """Padding of signals that continues at the other end."""

    dims, mode = 1, "circular"


class CircularPad2d(_Pad):
    """Padding of images that continues at the other edge."""

    dims, mode = 2, "circular"
