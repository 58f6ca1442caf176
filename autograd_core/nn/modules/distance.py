"""Distances and similarities as modules."""

from __future__ import annotations

from dataclasses import InitVar

from autograd_core.nn import functional as F
from autograd_core.nn.modules.layer import Layer
from autograd_core.tensor import Tensor


class CosineSimilarity(Layer):
    """The cosine of the angle between vectors along ``dim``."""

    dim: int = 1
    eps: float = 1e-8

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Layer):
    """The p-norm of the differences of vectors, along the last dimension."""

    p: InitVar[float] = 2.0
    eps: float = 1e-6
    keepdim: bool = False

    def __post_init__(self, p: float) -> None:
        self.norm = p

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
