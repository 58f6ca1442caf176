"""Convolutional layers."""

from __future__ import annotations

import math

from autograd_core.dtype import dtype
from autograd_core.functions import zeros
from autograd_core.nn import functional as F
from autograd_core.nn import init
from autograd_core.nn.modules.module import Module
from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor


class Conv2d(Module):
    """Images (N, in_channels, H, W) under learned kernels; weight (out, in / groups, h, w)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: F.Pair,
        stride: F.Pair = 1,
        padding: F.Pair = 0,
        dilation: F.Pair = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = F.pair(kernel_size)
        self.stride = F.pair(stride)
        self.padding = F.pair(padding)
        self.dilation = F.pair(dilation)
        self.groups = groups
        size = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(zeros(size, dtype=dtype))
        self.register_parameter(
            "bias", Parameter(zeros(out_channels, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start anew, with uniform random numbers up to ``1 / sqrt(fan in)``."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(init.fan_in(self.weight))
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.conv2d(
            input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != (0, 0):
            text += f", padding={self.padding}"
        if self.dilation != (1, 1):
            text += f", dilation={self.dilation}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        return text if self.bias is not None else f"{text}, bias=False"
