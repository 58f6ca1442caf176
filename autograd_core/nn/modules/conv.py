"""Convolutional layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_core.dtype import dtype
from autograd_core.functions import empty
from autograd_core.nn import functional as F
from autograd_core.nn import init
from autograd_core.nn.functional.sizes import Sizes, sizes
from autograd_core.nn.modules.module import OfFunction
from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor

_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(OfFunction):
    """The base of all convolutions: the options, the weight, and how they print."""

    transposed: ClassVar[bool] = False
    padding: tuple[int, ...] | str

    def _set_up(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes,
        padding: Sizes | str,
        dilation: Sizes,
        output_padding: Sizes,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any,
        dtype: dtype | None,
    ) -> None:
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if padding_mode not in _MODES:
            raise ValueError(
                f"padding_mode must be one of {set(_MODES)}, but got padding_mode='{padding_mode}'"
            )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = sizes(kernel_size, self.dims)
        self.stride = sizes(stride, self.dims)
        self.padding = padding if isinstance(padding, str) else sizes(padding, self.dims)
        self.dilation = sizes(dilation, self.dims)
        self.transposed_padding = sizes(output_padding, self.dims)
        self.groups = groups
        self.padding_mode = padding_mode
        channels = (in_channels, out_channels // groups)
        if not self.transposed:
            channels = (out_channels, in_channels // groups)
        options = {"device": device, "dtype": dtype}
        self.weight = Parameter(empty((*channels, *self.kernel_size), **options))
        self.register_parameter("bias", Parameter(empty(out_channels, **options)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize the parameters with uniform random numbers up to ``1 / sqrt(fan_in)``."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None and (fan_in := init.fan_in(self.weight)):
            bound = 1 / math.sqrt(fan_in)
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        nothing, once = (0,) * self.dims, (1,) * self.dims
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != nothing:
            text += f", padding={self.padding}"
        if self.dilation != once:
            text += f", dilation={self.dilation}"
        if self.transposed_padding != nothing:
            text += f", output_padding={self.transposed_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Forward(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}"
                )
            if padding == "same" and any(s != 1 for s in sizes(stride, self.dims)):
                raise ValueError("padding='same' is not supported for strided convolutions")
        self._set_up(in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups,
                     bias, padding_mode, device, dtype)  # fmt: skip

    @property
    def output_padding(self) -> tuple[int, ...]:
        return self.transposed_padding

    def forward(self, input: Tensor) -> Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._around(), mode=self.padding_mode)
            padding = 0
        return type(self).function(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )

    def _around(self) -> list[int]:
        """Return the padding at both ends of each dimension, the last one first."""
        total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
        if self.padding == "same":
            return [part for n in reversed(total) for part in (n // 2, n - n // 2)]
        if isinstance(self.padding, str):
            return [0] * (2 * self.dims)
        return [n for n in reversed(self.padding) for _ in range(2)]


class Conv1d(_Forward, dims=1, function=F.conv1d):
    """A convolution of signals (N, in_channels, L) with a weight (out_channels, in_channels /
    groups, l)."""


class Conv2d(_Forward, dims=2, function=F.conv2d):
    """A convolution of images (N, in_channels, H, W) with a weight (out_channels, in_channels /
    groups, h, w)."""


class Conv3d(_Forward, dims=3, function=F.conv3d):
    """A convolution of volumes (N, in_channels, D, H, W) with a weight (out_channels, in_channels /
    groups, d, h, w)."""


class _Transposed(_ConvNd):
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self._set_up(in_channels, out_channels, kernel_size, stride, padding, dilation,
                     output_padding, groups, bias, padding_mode, device, dtype)  # fmt: skip

    @property
    def output_padding(self) -> tuple[int, ...]:
        return self.transposed_padding

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Return the transposed convolution. Where several sizes of the output are possible,
        ``output_size`` chooses one."""
        extra = self.output_padding
        if output_size is not None:
            extra = self._extra(input._shape[-self.dims :], output_size, input.ndim)
        return type(self).function(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups,
            self.dilation,
        )  # fmt: skip

    def _extra(self, size: Sequence[int], requested: Sequence[int], ndim: int) -> tuple[int, ...]:
        if len(requested) not in (self.dims, ndim):
            raise ValueError(
                f"ConvTranspose{self.dims}D: for {ndim}D input, output_size must have "
                f"{self.dims} or {ndim} elements (got {len(requested)})"
            )
        requested = requested[-self.dims :]
        padding = sizes(self.padding, self.dims)
        columns = zip(size, self.stride, padding, self.dilation, self.kernel_size, strict=True)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in columns]
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        if any(not a <= n <= b for a, n, b in zip(least, requested, most, strict=True)):
            raise ValueError(
                f"requested an output size of {tuple(requested)}, but valid sizes range from "
                f"{least} to {most} (for an input of {tuple(size)})"
            )
        return tuple(n - a for n, a in zip(requested, least, strict=True))


class ConvTranspose1d(_Transposed, dims=1, function=F.conv_transpose1d):
    """A transposed convolution of signals (N, in_channels, L) with a weight (in_channels,
    out_channels / groups, l)."""


class ConvTranspose2d(_Transposed, dims=2, function=F.conv_transpose2d):
    """A transposed convolution of images (N, in_channels, H, W) with a weight (in_channels,
    out_channels / groups, h, w)."""


class ConvTranspose3d(_Transposed, dims=3, function=F.conv_transpose3d):
    """A transposed convolution of volumes (N, in_channels, D, H, W) with a weight (in_channels,
    out_channels / groups, d, h, w)."""
