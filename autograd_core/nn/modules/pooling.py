"""Pooling layers: one class per function and number of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_core.nn import functional as F
from autograd_core.nn.functional.sizes import Sizes, sizes
from autograd_core.nn.modules.module import OfFunction
from autograd_core.tensor import Tensor


class _Pool(OfFunction):
    """A function of the input and of the attributes that ``options`` names."""

    options: ClassVar[tuple[str, ...]]
    shown: ClassVar[tuple[str, ...]]

    def forward(self, input: Tensor) -> Any:
        chosen = {name: getattr(self, name) for name in self.options}
        return type(self).function(input, **chosen)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in self.shown)


class _MaxPoolNd(_Pool):
    shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
    options = (*shown, "return_indices")

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode


class MaxPool1d(_MaxPoolNd, function=F.max_pool1d):
    """Max pooling of signals (N, C, L): the largest element in each window."""


class MaxPool2d(_MaxPoolNd, function=F.max_pool2d):
    """Max pooling of images (N, C, H, W): the largest element in each window."""


class MaxPool3d(_MaxPoolNd, function=F.max_pool3d):
    """Max pooling of volumes (N, C, D, H, W): the largest element in each window."""


class _MaxUnpool(_Pool):
    shown = ("kernel_size", "stride", "padding")

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self.kernel_size = sizes(kernel_size, self.dims)
        self.stride = self.kernel_size if stride is None else sizes(stride, self.dims)
        self.padding = sizes(padding, self.dims)

    def forward(  # type: ignore[override]
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        result: Tensor = type(self).function(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )
        return result


class MaxUnpool1d(_MaxUnpool, dims=1, function=F.max_unpool1d):
    """The inverse of MaxPool1d: the maxima of signals in their places, with zeros elsewhere."""


class MaxUnpool2d(_MaxUnpool, dims=2, function=F.max_unpool2d):
    """The inverse of MaxPool2d: the maxima of images in their places, with zeros elsewhere."""


class MaxUnpool3d(_MaxUnpool, dims=3, function=F.max_unpool3d):
    """The inverse of MaxPool3d: the maxima of volumes in their places, with zeros elsewhere."""


class _AvgPool(_Pool):
    shown = ("kernel_size", "stride", "padding")
    options: ClassVar[tuple[str, ...]] = (
        *shown, "ceil_mode", "count_include_pad", "divisor_override",
    )  # fmt: skip

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override


class AvgPool1d(_AvgPool, function=F.avg_pool1d):
    """Average pooling of signals (N, C, L): the mean of each window."""

    options = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        step = kernel_size if stride is None else stride
        super().__init__(
            sizes(kernel_size, 1), sizes(step, 1), sizes(padding, 1), ceil_mode, count_include_pad
        )


class AvgPool2d(_AvgPool, function=F.avg_pool2d):
    """Average pooling of images (N, C, H, W): the mean of each window."""


class AvgPool3d(_AvgPool, function=F.avg_pool3d):
    """Average pooling of volumes (N, C, D, H, W): the mean of each window."""


class _Adaptive(_Pool):
    options: ClassVar[tuple[str, ...]] = ("output_size",)
    shown = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size


class AdaptiveAvgPool1d(_Adaptive, function=F.adaptive_avg_pool1d):
    """Adaptive average pooling of signals: the means of ``output_size`` windows."""


class AdaptiveAvgPool2d(_Adaptive, function=F.adaptive_avg_pool2d):
    """Adaptive average pooling of images: the means of ``output_size`` windows."""


class AdaptiveAvgPool3d(_Adaptive, function=F.adaptive_avg_pool3d):
    """Adaptive average pooling of volumes: the means of ``output_size`` windows."""


class _AdaptiveMax(_Adaptive):
    options = ("output_size", "return_indices")

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMax, function=F.adaptive_max_pool1d):
    """Adaptive max pooling of signals: the largest elements of ``output_size`` windows."""


class AdaptiveMaxPool2d(_AdaptiveMax, function=F.adaptive_max_pool2d):
    """Adaptive max pooling of images: the largest elements of ``output_size`` windows."""


class AdaptiveMaxPool3d(_AdaptiveMax, function=F.adaptive_max_pool3d):
    """Adaptive max pooling of volumes: the largest elements of ``output_size`` windows."""
