"""Pooling layers."""

from __future__ import annotations

from autograd_core.nn import functional as F
from autograd_core.nn.modules.module import Module
from autograd_core.tensor import Tensor


class MaxPool2d(Module):
    """The largest element in each window of images (N, C, H, W)."""

    def __init__(
        self,
        kernel_size: F.Pair,
        stride: F.Pair | None = None,
        padding: F.Pair = 0,
        dilation: F.Pair = 1,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation

    def forward(self, input: Tensor) -> Tensor:
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode=False"
        )
