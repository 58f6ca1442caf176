"""Activation functions."""

from __future__ import annotations

from typing import Any

from autograd_core.functions import generator, reshape
from autograd_core.ops import activation, elementwise, loss
from autograd_core.tensor import Tensor

logsigmoid = activation.log_sigmoid

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, else 0."""
    return _placed(input, elementwise.relu(input), inplace)


def sigmoid(input: Tensor) -> Tensor:
    """The logistic function, ``1 / (1 + exp(-input))``."""
    return elementwise.sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent."""
    return elementwise.tanh(input)


def _placed(input: Tensor, result: Tensor, inplace: bool) -> Tensor:
    """What an op computed; under ``inplace``, in the place of its input."""
    if not inplace:
        return result
    changed: Any = input
    return changed.copy_(result)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, else ``alpha * (exp(input) - 1)``."""
    return _placed(input, activation.elu(input, alpha=alpha), inplace)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, else ``alpha * (exp(input / alpha) - 1)``."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _placed(input, activation.celu(input, alpha=alpha), inplace)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """:func:`elu` with the two constants that keep mean 0 and variance 1 (Klambauer 2017)."""
    return _placed(input, activation.elu(input, alpha=_SELU_ALPHA, scale=_SELU_SCALE), inplace)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``input`` times the normal distribution function of it, or the "tanh" approximation."""
    return activation.gelu(input, approximate=approximate)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``."""
    return _placed(input, activation.silu(input), inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * tanh(softplus(input))``."""
    return _placed(input, activation.mish(input), inplace)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``log(1 + exp(beta * input)) / beta``, linear where ``beta * input > threshold``."""
    return activation.softplus(input, beta=beta, threshold=threshold)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, else ``negative_slope * input``."""
    return _placed(input, activation.leaky_relu(input, negative_slope=negative_slope), inplace)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """:func:`leaky_relu` whose slope is learned: one, or one per channel of (N, C, ...)."""
    channels = input._shape[1] if input.ndim > 1 else 1
    if weight.numel() not in (1, channels):
        raise RuntimeError(
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{weight.numel()} and channel size = {channels}."
        )
    if input.ndim > 0:
        shape = [1] * input.ndim
        shape[min(1, input.ndim - 1)] = -1
        weight = reshape(weight, shape) if weight._shape != (-1,) else weight
    return activation.prelu(input, weight)


def rrelu(
    input: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """:func:`leaky_relu` with a random slope for each element in training, else their mean."""
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    slopes = generator().uniform(lower, upper, input._shape).astype(input.dtype.dtype)
    noise = Tensor.from_array(slopes)
    return _placed(input, activation.rrelu_with_noise(input, noise), inplace)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """``input`` held between two numbers."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _placed(input, activation.hardtanh(input, min_val=min_val, max_val=max_val), inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``input`` held between 0 and 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``input / 6 + 1 / 2`` held between 0 and 1."""
    return _placed(input, activation.hardsigmoid(input), inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * hardsigmoid(input)``."""
    return _placed(input, activation.hardswish(input), inplace)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """``input``, but 0 between ``-lambd`` and ``lambd``."""
    return activation.hardshrink(input, lambd=lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """``input`` moved towards 0 by ``lambd``, and no further."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return activation.softshrink(input, lambd=lambd)


def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``."""
    return elementwise.sub(input, elementwise.tanh(input))


def softsign(input: Tensor) -> Tensor:
    """``input / (1 + abs(input))``."""
    return elementwise.div(input, elementwise.add(elementwise.abs(input), 1))


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``input`` where it is above ``threshold``, else ``value``."""
    result = activation.threshold_(input, threshold=threshold, value=value)
    return _placed(input, result, inplace)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of ``input`` along ``dim`` times the logistic function of the second."""
    return activation.glu(input, dim)


def softmax(input: Tensor, dim: int | None = None) -> Tensor:
    """Positive numbers that add up to 1 along ``dim``, in the ratios of ``exp(input)``."""
    return loss.softmax(input, _dim(input, dim))


def softmin(input: Tensor, dim: int | None = None) -> Tensor:
    """:func:`softmax` of ``-input``."""
    return loss.softmax(elementwise.neg(input), _dim(input, dim))


def log_softmax(input: Tensor, dim: int | None = None) -> Tensor:
    """The logarithm of :func:`softmax`, without its underflow."""
    return loss.log_softmax(input, _dim(input, dim))


def _dim(input: Tensor, dim: int | None) -> int:
    # what PyTorch takes, with a warning, where nobody says
    return dim if dim is not None else 0 if input.ndim in (0, 1, 3) else 1
