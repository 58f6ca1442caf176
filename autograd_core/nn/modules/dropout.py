"""Dropout."""

from __future__ import annotations

from autograd_core.nn import functional as F
from autograd_core.nn.modules.module import OfFunction
from autograd_core.tensor import Tensor


class _DropoutNd(OfFunction):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return type(self).function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd, function=F.dropout):
    """Dropout: in training, each element is set to zero with probability ``p``, and the others are
    scaled up."""


class Dropout1d(_DropoutNd, function=F.dropout1d):
    """Dropout of whole channels of (N, C, L) or (C, L)."""


class Dropout2d(_DropoutNd, function=F.dropout2d):
    """Dropout of whole channels of (N, C, H, W)."""


class Dropout3d(_DropoutNd, function=F.dropout3d):
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""


class AlphaDropout(_DropoutNd, function=F.alpha_dropout):
    """Dropout for SELU: it preserves mean and variance."""


class FeatureAlphaDropout(_DropoutNd, function=F.feature_alpha_dropout):
    """AlphaDropout of whole channels of (N, C, ...)."""
