"""Convolutional layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import InitVar
from typing import Any

from autograd_core.dtype import dtype as dtype_type
from autograd_core.functions import empty
from autograd_core.nn import functional as F
from autograd_core.nn import init
from autograd_core.nn.functional.sizes import Sizes, sizes
from autograd_core.nn.modules.layer import Layer
from autograd_core.tensor import Tensor

_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Layer):
    """The base of all convolutions: the weight, and how they print."""

    def _set_up(self, bias: bool, *factory: Any) -> None:
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        if self.out_channels % self.groups:
            raise ValueError("out_channels must be divisible by groups")
        if self.padding_mode not in _MODES:
            raise ValueError(
                f"padding_mode must be one of {set(_MODES)}, but got "
                f"padding_mode={self.padding_mode!r}"
            )
        for name in ("kernel_size", "stride", "padding", "dilation", "output_padding"):
            if not isinstance(given := getattr(self, name), str):
                setattr(self, name, sizes(given, self.dims))
        size = (*self._channels(self.groups), *self.kernel_size)
        self.learn("weight", size, *factory, start=empty)
        self.learn("bias", (self.out_channels,), *factory, start=empty, used=bias)
        self.reset_parameters()

    def _channels(self, groups: int) -> tuple[int, int]:
        """Return the first two sizes of the weight."""
        return self.out_channels, self.in_channels // groups

    def reset_parameters(self) -> None:
        """Initialize the parameters with uniform random numbers up to ``1 / sqrt(fan_in)``."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None and (fan_in := init.fan_in(self.weight)):
            bound = 1 / math.sqrt(fan_in)
            init.uniform_(self.bias, -bound, bound)

    def _tuples(self, *names: str) -> list[tuple[int, ...]]:
        """Return options, with one number for each dimension."""
        return [sizes(getattr(self, name), self.dims) for name in names]

    def extra_repr(self) -> str:
        nothing, once = (0,) * self.dims, (1,) * self.dims
        usual = {"padding": nothing, "dilation": once, "output_padding": nothing, "groups": 1,
                 "bias": True, "padding_mode": "zeros"}  # fmt: skip
        values = vars(self) | {"bias": self.bias is not None}
        text = f"{self.in_channels}, {self.out_channels}"
        for name in ("kernel_size", "stride", *usual):
            if name not in usual or values[name] != usual[name]:
                text += f", {name}={values[name]}"
        return text


class _Forward(_ConvNd):
    in_channels: int
    out_channels: int
    kernel_size: Sizes
    stride: Sizes = 1
    padding: Sizes | str = 0
    dilation: Sizes = 1
    groups: int = 1
    bias: InitVar[bool] = True
    padding_mode: str = "zeros"
    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None

    def __post_init__(self, bias: bool, *factory: Any) -> None:
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string {self.padding!r}, should be one of {{'valid', 'same'}}"
                )
            if self.padding == "same" and any(s != 1 for s in sizes(self.stride, self.dims)):
                raise ValueError("padding='same' is not supported for strided convolutions")
        self.output_padding = 0
        self._set_up(bias, *factory)

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
        total = [d * (k - 1) for d, k in zip(*self._tuples("dilation", "kernel_size"), strict=True)]
        if self.padding == "same":
            return [part for n in reversed(total) for part in (n // 2, n - n // 2)]
        if isinstance(self.padding, str):
            return [0] * (2 * self.dims)
        return [n for n in reversed(self._tuples("padding")[0]) for _ in range(2)]


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
    in_channels: int
    out_channels: int
    kernel_size: Sizes
    stride: Sizes = 1
    padding: Sizes = 0
    output_padding: Sizes = 0
    groups: int = 1
    bias: InitVar[bool] = True
    dilation: Sizes = 1
    padding_mode: str = "zeros"
    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None

    def __post_init__(self, bias: bool, *factory: Any) -> None:
        if self.padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self._set_up(bias, *factory)

    def _channels(self, groups: int) -> tuple[int, int]:
        return self.in_channels, self.out_channels // groups

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
        strides, *others = self._tuples("stride", "padding", "dilation", "kernel_size")
        columns = zip(size, strides, *others, strict=True)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in columns]
        most = [n + s - 1 for n, s in zip(least, strides, strict=True)]
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
