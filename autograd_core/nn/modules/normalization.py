"""Normalization layers."""

from __future__ import annotations

from dataclasses import InitVar
from typing import Any

from autograd_core.dtype import dtype as dtype_type
from autograd_core.functions import ones
from autograd_core.nn import functional as F
from autograd_core.nn.modules.layer import Layer
from autograd_core.tensor import Tensor


class _OfShape(Layer):
    """The normalization of the last dimensions, which have the shape ``normalized_shape``."""

    normalized_shape: Any  # int or Sequence[int]; the attribute is a tuple
    placed = 1

    def _set_up(self, affine: bool, *factory: Any) -> None:
        size = self.normalized_shape
        self.normalized_shape = (size,) if isinstance(size, int) else tuple(size)
        self.learn("weight", self.normalized_shape, *factory, start=ones, used=affine)


class LayerNorm(_OfShape):
    """Layer normalization: the last dimensions are brought to mean 0 and variance 1, then scaled
    and shifted."""

    eps: float = 1e-5
    elementwise_affine: bool = True
    bias: InitVar[bool] = True
    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None
    shown = ("normalized_shape", "eps", "elementwise_affine", "bias")

    def __post_init__(self, bias: bool, *factory: Any) -> None:
        self._set_up(self.elementwise_affine, *factory)
        used = self.elementwise_affine and bias
        self.learn("bias", self.normalized_shape, *factory, used=used)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(_OfShape):
    """Normalization of the last dimensions to root mean square 1, followed by a learned scale."""

    eps: float | None = None
    elementwise_affine: bool = True
    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None
    shown = ("normalized_shape", "eps", "elementwise_affine")

    def __post_init__(self, *factory: Any) -> None:
        self._set_up(self.elementwise_affine, *factory)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(Layer):
    """Group normalization: each group of channels is brought to mean 0 and variance 1, then scaled
    and shifted."""

    num_groups: int
    num_channels: int
    eps: float = 1e-5
    affine: bool = True
    device: InitVar[Any] = None
    dtype: InitVar[dtype_type | None] = None
    shown = ("num_groups", "num_channels", "eps", "affine", "bias")
    placed = 2

    def __post_init__(self, *factory: Any) -> None:
        if self.num_channels % self.num_groups:
            raise ValueError(
                f"num_channels ({self.num_channels}) must be divisible by num_groups "
                f"({self.num_groups})"
            )
        size = (self.num_channels,)
        self.learn("weight", size, *factory, start=ones, used=self.affine)
        self.learn("bias", size, *factory, used=self.affine)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)
