"""Activation functions as modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from autograd_core.functions import full
from autograd_core.nn import functional as F
from autograd_core.nn.modules.module import Module
from autograd_core.nn.parameter import Parameter
from autograd_core.tensor import Tensor


class _Activation(Module):
    """A function whose options are attributes of the module, under the names they have there."""

    function: ClassVar[Callable[..., Tensor]]

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._options = tuple(options)
        self.__dict__.update(options)

    def forward(self, input: Tensor) -> Tensor:
        if not self._options:
            return self.function(input)
        return self.function(input, **{name: getattr(self, name) for name in self._options})

    def extra_repr(self) -> str:
        shown = [name for name in self._options if name != "inplace" or self.inplace]
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)


class _InPlace(_Activation):
    """One with the option ``inplace`` alone."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class ReLU(_InPlace):
    """The input where it is positive, else 0."""

    function = staticmethod(F.relu)


class ReLU6(_InPlace):
    """The input clamped to the range from 0 to 6."""

    function = staticmethod(F.relu6)


class SELU(_InPlace):
    """ELU with the constants that preserve mean 0 and variance 1."""

    function = staticmethod(F.selu)


class SiLU(_InPlace):
    """The input times its sigmoid."""

    function = staticmethod(F.silu)


class Mish(_InPlace):
    """``input * tanh(softplus(input))``."""

    function = staticmethod(F.mish)


class Hardsigmoid(_InPlace):
    """``input / 6 + 1 / 2``, clamped to the range from 0 to 1."""

    function = staticmethod(F.hardsigmoid)


class Hardswish(_InPlace):
    """The input times its :class:`Hardsigmoid`."""

    function = staticmethod(F.hardswish)


class Tanh(_Activation):
    """The hyperbolic tangent."""

    function = staticmethod(F.tanh)


class Sigmoid(_Activation):
    """The logistic sigmoid."""

    function = staticmethod(F.sigmoid)


class LogSigmoid(_Activation):
    """The logarithm of the sigmoid."""

    function = staticmethod(F.logsigmoid)


class Softsign(_Activation):
    """``input / (1 + abs(input))``."""

    function = staticmethod(F.softsign)


class Tanhshrink(_Activation):
    """``input - tanh(input)``."""

    function = staticmethod(F.tanhshrink)


class ELU(_Activation):
    """The input where it is positive, else ``alpha * (exp(input) - 1)``."""

    function = staticmethod(F.elu)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(alpha=alpha, inplace=inplace)


class CELU(_Activation):
    """The input where it is positive, else ``alpha * (exp(input / alpha) - 1)``."""

    function = staticmethod(F.celu)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(alpha=alpha, inplace=inplace)


class GELU(_Activation):
    """The input times its normal cumulative distribution function, which approximate="tanh"
    approximates."""

    function = staticmethod(F.gelu)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__(approximate=approximate)


class GLU(_Activation):
    """The first half of the input along ``dim`` times the sigmoid of the second half."""

    function = staticmethod(F.glu)

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim=dim)


class Softplus(_Activation):
    """``log(1 + exp(beta * input)) / beta``, linear where ``beta * input > threshold``."""

    function = staticmethod(F.softplus)

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__(beta=beta, threshold=threshold)


class LeakyReLU(_Activation):
    """The input where it is positive, else ``negative_slope * input``."""

    function = staticmethod(F.leaky_relu)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(negative_slope=negative_slope, inplace=inplace)


class RReLU(_Activation):
    """LeakyReLU with random slopes in training, and their mean in evaluation."""

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__(lower=lower, upper=upper, inplace=inplace)

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Hardtanh(_Activation):
    """The input clamped to the range from ``min_val`` to ``max_val``."""

    function = staticmethod(F.hardtanh)

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(min_val=min_val, max_val=max_val, inplace=inplace)


class Threshold(_Activation):
    """The input where it is above ``threshold``, else ``value``."""

    function = staticmethod(F.threshold)

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(threshold=threshold, value=value, inplace=inplace)


class _Shrink(_Activation):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """The input, with values between ``-lambd`` and ``lambd`` set to 0."""

    function = staticmethod(F.hardshrink)


class Softshrink(_Shrink):
    """The input, moved towards 0 by ``lambd``."""

    function = staticmethod(F.softshrink)


class _AlongDim(_Activation):
    def __init__(self, dim: int | None = None) -> None:
        super().__init__(dim=dim)


class Softmax(_AlongDim):
    """The softmax: positive numbers that sum to 1 along ``dim``."""

    function = staticmethod(F.softmax)


class Softmin(_AlongDim):
    """The :class:`Softmax` of the negative input."""

    function = staticmethod(F.softmin)


class LogSoftmax(_AlongDim):
    """The logarithm of the :class:`Softmax`."""

    function = staticmethod(F.log_softmax)


class PReLU(Module):
    """LeakyReLU with learned slopes: one for all channels, or one for each; the weight is
    (num_parameters,)."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(full((num_parameters,), float(init)))

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Softmax2d(Module):
    """:class:`Softmax` over the channels of images (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)
