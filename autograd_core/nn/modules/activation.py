"""Activation functions as modules."""

from __future__ import annotations

from autograd_core.nn import functional as F
from autograd_core.nn.modules.module import Module
from autograd_core.tensor import Tensor


class ReLU(Module):
    """The input where it is positive, else 0."""

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input)


class Tanh(Module):
    """Hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class Sigmoid(Module):
    """Logistic function."""

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class _AlongDim(Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """Positive numbers that add up to 1 along ``dim``."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class LogSoftmax(_AlongDim):
    """The logarithm of Softmax."""

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)
