"""Dropout."""

from __future__ import annotations

from autograd_core.nn import functional as F
from autograd_core.nn.modules.layer import Layer
from autograd_core.tensor import Tensor


class _DropoutNd(Layer):
    p: float = 0.5
    inplace: bool = False
    shown = ("p", "inplace")

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def forward(self, input: Tensor) -> Tensor:
        return type(self).function(input, self.p, self.training, self.inplace)


class Dropout(_DropoutNd, function=F.dropout):
    """Dropout: in training, each element is set to zero with probability ``p``, and the others are
    scaled up."""


class Dropout1d(_DropoutNd, function=F.dropout1d):
    """Dropout of whole channels of (N, C, L) or (C, L)."""


class Dropout2d(_DropoutNd, function=F.dropout2d):
    """Dropout of whole channels of (N, C, H, W)."""


class Dropout3d(_DropoutNd, function=F.dropout3d):
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""
