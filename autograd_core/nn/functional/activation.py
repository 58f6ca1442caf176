"""Activation functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache

from autograd_core.dtype import dtype
from autograd_core.functions import reshape
from autograd_core.op import inplace as inplace_form
from autograd_core.ops.pointwise import activation, elementwise
from autograd_core.ops.reductions import softmax as softmax_ops
from autograd_core.ops.shaping.convert import to_dtype
from autograd_core.tensor import Tensor

logsigmoid = activation.log_sigmoid

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``input`` where it is positive, else 0."""
    return _applied(elementwise.relu, input, inplace)


def sigmoid(input: Tensor) -> Tensor:
    """Return the logistic sigmoid, ``1 / (1 + exp(-input))``."""
    return elementwise.sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent."""
    return elementwise.tanh(input)


@cache
def _in_place(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return inplace_form(op, f"{op.__name__}_")


def _applied(op: Callable[..., Tensor], input: Tensor, inplace: bool, **options: float) -> Tensor:
    """Return what an op computes; under ``inplace``, in the place of its input."""
    return (_in_place(op) if inplace else op)(input, **options)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return ``input`` where it is positive, else ``alpha * (exp(input) - 1)``."""
    return _applied(activation.elu, input, inplace, alpha=alpha)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return ``input`` where it is positive, else ``alpha * (exp(input / alpha) - 1)``."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _applied(activation.celu, input, inplace, alpha=alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return :func:`elu` with the constants that preserve mean 0 and variance 1 (Klambauer et al.
    2017)."""
    return _applied(activation.elu, input, inplace, alpha=_SELU_ALPHA, scale=_SELU_SCALE)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return ``input`` times its normal cumulative distribution function, which approximate="tanh"
    approximates."""
    return activation.gelu(input, approximate=approximate)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``input * sigmoid(input)``."""
    return _applied(activation.silu, input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``input * tanh(softplus(input))``."""
    return _applied(activation.mish, input, inplace)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return ``log(1 + exp(beta * input)) / beta``, linear where ``beta * input > threshold``."""
    return activation.softplus(input, beta=beta, threshold=threshold)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return ``input`` where it is positive, else ``negative_slope * input``."""
    return _applied(activation.leaky_relu, input, inplace, negative_slope=negative_slope)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return :func:`leaky_relu` with a learned slope: one, or one per channel of (N, C, ...)."""
    if input.dtype is not weight.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {input.dtype.scalar_name} and "
            f"{weight.dtype.scalar_name}"
        )
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
    elif weight._shape:
        weight = reshape(weight, ())
    return activation.prelu(input, weight)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Return ``input`` clamped to the range from ``min_val`` to ``max_val``."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _applied(activation.hardtanh, input, inplace, min_val=min_val, max_val=max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``input`` clamped to the range from 0 to 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``input / 6 + 1 / 2``, clamped to the range from 0 to 1."""
    return _applied(activation.hardsigmoid, input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return ``input * hardsigmoid(input)``."""
    return _applied(activation.hardswish, input, inplace)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return ``input``, with values between ``-lambd`` and ``lambd`` set to 0."""
    return activation.hardshrink(input, lambd=lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return ``input``, moved towards 0 by ``lambd``."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return activation.softshrink(input, lambd=lambd)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return ``input`` where it is above ``threshold``, else ``value``."""
    return _applied(activation.threshold_, input, inplace, threshold=threshold, value=value)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return the first half of ``input`` along ``dim`` times the sigmoid of the second half."""
    return activation.glu(input, dim)


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None
) -> Tensor:
    """Return ``exp(input) / exp(input).sum(dim)``: positive numbers that sum to 1 along ``dim``."""
    return softmax_ops.softmax(_as(input, dtype), _dim("softmax", input, dim, _stacklevel))


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None
) -> Tensor:
    """Return the logarithm of :func:`softmax`, without underflow."""
    return softmax_ops.log_softmax(_as(input, dtype), _dim("log_softmax", input, dim, _stacklevel))


def _as(input: Tensor, kind: dtype | None) -> Tensor:
    return input if kind is None else to_dtype(input, kind)


def _dim(name: str, input: Tensor, dim: int | None, stacklevel: int) -> int:
    """Return ``dim``, or, with a warning, the one that PyTorch takes where nobody says."""
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if input.ndim in (0, 1, 3) else 1


# The in-place forms that PyTorch has as functions.


def relu_(input: Tensor) -> Tensor:
    """Apply :func:`relu` in place."""
    return relu(input, True)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Apply :func:`elu` in place."""
    return elu(input, alpha, True)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Apply :func:`celu` in place."""
    return celu(input, alpha, True)


def selu_(input: Tensor) -> Tensor:
    """Apply :func:`selu` in place."""
    return selu(input, True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Apply :func:`leaky_relu` in place."""
    return leaky_relu(input, negative_slope, True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Apply :func:`hardtanh` in place."""
    return hardtanh(input, min_val, max_val, True)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """Apply :func:`threshold` in place."""
    return _applied(activation.threshold_, input, True, threshold=threshold, value=value)
