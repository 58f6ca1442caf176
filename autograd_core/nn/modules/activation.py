"""Activation functions as modules."""

from __future__ import annotations

from dataclasses import InitVar

from autograd_core.functions import full
from autograd_core.nn import functional as F
from autograd_core.nn.modules.layer import Layer, OfFunction
from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor


class _Activation(OfFunction):
    """A function that prints with all its options, with ``inplace`` only where it is set."""

    def extra_repr(self) -> str:
        shown = [name for name in self.options if name != "inplace" or self.inplace]
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)


class _InPlace(_Activation):
    inplace: bool = False


class ReLU(_InPlace, function=F.relu):
    """The input where it is positive, else 0."""


class SELU(_InPlace, function=F.selu):
    """ELU with the constants that preserve mean 0 and variance 1."""


class SiLU(_InPlace, function=F.silu):
    """The input times its sigmoid."""


class Tanh(_Activation, function=F.tanh):
    """The hyperbolic tangent."""


class Sigmoid(_Activation, function=F.sigmoid):
    """The logistic sigmoid."""


class ELU(_Activation, function=F.elu):
    """The input where it is positive, else ``alpha * (exp(input) - 1)``."""

    alpha: float = 1.0
    inplace: bool = False


class GELU(_Activation, function=F.gelu):
    """The input times its normal cumulative distribution function, which approximate="tanh"
    approximates."""

    approximate: str = "none"


class Softplus(_Activation, function=F.softplus):
    """``log(1 + exp(beta * input)) / beta``, linear where ``beta * input > threshold``."""

    beta: float = 1.0
    threshold: float = 20.0


class LeakyReLU(_Activation, function=F.leaky_relu):
    """The input where it is positive, else ``negative_slope * input``."""

    negative_slope: float = 0.01
    inplace: bool = False


class Hardtanh(_Activation, function=F.hardtanh):
    """The input clamped to the range from ``min_val`` to ``max_val``."""

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False


class _AlongDim(_Activation):
    dim: int | None = None


class Softmax(_AlongDim, function=F.softmax):
    """The softmax: positive numbers that sum to 1 along ``dim``."""


class LogSoftmax(_AlongDim, function=F.log_softmax):
    """The logarithm of the :class:`Softmax`."""


class PReLU(Layer):
    """LeakyReLU with learned slopes: one for all channels, or one for each; the weight is
    (num_parameters,)."""

    num_parameters: int = 1
    init: InitVar[float] = 0.25
    shown = ("num_parameters",)

    def __post_init__(self, init: float) -> None:
        self.weight = Parameter(full((self.num_parameters,), float(init)))

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)
