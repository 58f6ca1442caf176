"""Borders around signals, images and volumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from autograd_core.nn import functional as F
from autograd_core.nn.functional.sizes import Sizes
from autograd_core.nn.modules.module import Module
from autograd_core.tensor import Tensor


class _Pad(Module):
    """A border as wide as ``padding`` says: one number for all sides, or one for each, those of
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
    """``value`` before and after signals."""

    dims = 1


class ConstantPad2d(_ConstantPad):
    """``value`` around images."""

    dims = 2


class ConstantPad3d(_ConstantPad):
    """``value`` around volumes."""

    dims = 3


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad):
    """Zeros before and after signals."""

    dims = 1


class ZeroPad2d(_ZeroPad):
    """Zeros around images."""

    dims = 2


class ZeroPad3d(_ZeroPad):
    """Zeros around volumes."""

    dims = 3


class ReflectionPad1d(_Pad):
    """Signals mirrored at their ends."""

    dims, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Images mirrored at their edges."""

    dims, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Volumes mirrored at their faces."""

    dims, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """The ends of signals repeated."""

    dims, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """The edges of images repeated."""

    dims, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """The faces of volumes repeated."""

    dims, mode = 3, "replicate"


class CircularPad1d(_Pad):
    """Signals that go on at their other end."""

    dims, mode = 1, "circular"


class CircularPad2d(_Pad):
    """Images that go on at their other edge."""

    dims, mode = 2, "circular"


class CircularPad3d(_Pad):
    """Volumes that go on at their other face."""

    dims, mode = 3, "circular"
