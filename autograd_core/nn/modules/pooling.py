"""Pooling layers: one class per function and number of dimensions."""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_core.nn import functional as F
from autograd_core.nn.functional.sizes import Sizes, sizes
from autograd_core.nn.modules.layer import OfFunction


class _Pool(OfFunction):
    """Pooling of windows, which by default do not overlap."""

    kernel_size: Sizes
    stride: Sizes | None = None
    padding: Sizes = 0
    shown: ClassVar[tuple[str, ...]] = ("kernel_size", "stride", "padding")

    def __post_init__(self) -> None:
        if self.stride is None:
            self.stride = self.kernel_size


class _MaxPoolNd(_Pool):
    dilation: Sizes = 1
    return_indices: bool = False
    ceil_mode: bool = False
    shown = (*_Pool.shown, "dilation", "ceil_mode")


class MaxPool1d(_MaxPoolNd, function=F.max_pool1d):
    """Max pooling of signals (N, C, L): the largest element in each window."""


class MaxPool2d(_MaxPoolNd, function=F.max_pool2d):
    """Max pooling of images (N, C, H, W): the largest element in each window."""


class MaxPool3d(_MaxPoolNd, function=F.max_pool3d):
    """Max pooling of volumes (N, C, D, H, W): the largest element in each window."""


class _AvgPool(_Pool):
    ceil_mode: bool = False
    count_include_pad: bool = True


class AvgPool1d(_AvgPool, function=F.avg_pool1d):
    """Average pooling of signals (N, C, L): the mean of each window."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.shown:
            setattr(self, name, sizes(getattr(self, name), 1))


class _AvgPoolNd(_AvgPool):
    divisor_override: int | None = None


class AvgPool2d(_AvgPoolNd, function=F.avg_pool2d):
    """Average pooling of images (N, C, H, W): the mean of each window."""


class AvgPool3d(_AvgPoolNd, function=F.avg_pool3d):
    """Average pooling of volumes (N, C, D, H, W): the mean of each window."""


class _Adaptive(OfFunction):
    output_size: Any
    shown = ("output_size",)


class AdaptiveAvgPool1d(_Adaptive, function=F.adaptive_avg_pool1d):
    """Adaptive average pooling of signals: the means of ``output_size`` windows."""


class AdaptiveAvgPool2d(_Adaptive, function=F.adaptive_avg_pool2d):
    """Adaptive average pooling of images: the means of ``output_size`` windows."""


class AdaptiveAvgPool3d(_Adaptive, function=F.adaptive_avg_pool3d):
    """Adaptive average pooling of volumes: the means of ``output_size`` windows."""
