"""Activation functions, elementwise; their derivatives at a kink are PyTorch's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import Second, op, pointwise
from autograd_core.op.blocks import in_blocks
from autograd_core.ops.checks import check_implemented
from autograd_core.ops.indices.index import slice_
from autograd_core.ops.pointwise.elementwise import (
    chosen,
    exp,
    logistic,
    sigmoid,
    tanh,
    where,
    within,
)
from autograd_core.ops.pointwise.normal import ndtr, ndtr_beside
from autograd_core.ops.shaping.joining import cat
from autograd_core.tensor.dimensions import wrapped


@pointwise(
    floats="elu_cpu",
    self=lambda g, self, alpha, scale, input_scale: where(
        self <= 0, g * (scale * alpha * input_scale * exp(_negative(self) * input_scale)), g * scale
    ),
    inplace_node="EluBackward1",
)
@in_blocks
def elu(self, *, alpha=1.0, scale=1.0, input_scale=1.0):
    """Return ``scale * self`` where ``self`` is positive, else
    ``scale * alpha * (exp(input_scale * self) - 1)``."""
    below = alpha * np.expm1(np.minimum(self, 0) * input_scale)
    return (np.where(self > 0, self, below) * scale).astype(self.dtype, copy=False)


@pointwise(
    floats="elu_cpu",
    self=lambda g, self, alpha: where(self <= 0, g * exp(_negative(self) / alpha), g),
    inplace_node="CeluBackward1",
)
@in_blocks
def celu(self, *, alpha=1.0):
    """Return ``self`` where it is positive, else ``alpha * (exp(self / alpha) - 1)``."""
    return np.where(self > 0, self, alpha * np.expm1(np.minimum(self, 0) / alpha))


def _negative(x: Any) -> Any:
    """Return ``x`` where it is negative, else 0, and constant at 0."""
    return where(x < 0, x, 0)


_ROOT, _CUBE = math.sqrt(2 / math.pi), 0.044715


@pointwise(
    floats="GeluKernelImpl",
    self=lambda g, self, approximate: g * gelu_slope(self, approximate),
)
@in_blocks
def gelu(self, *, approximate="none"):
    """Return ``self`` times the normal distribution function of ``self``; ``approximate="tanh"``
    for the approximation of that by the hyperbolic tangent."""
    if approximate == "tanh":
        return _gelu_by_tanh(self)
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return self * ndtr_beside(self)


# In place, as half of the time of so many passes goes into memory for what they leave behind.


def _bent(x: Any, square: Any) -> Any:
    """Return ``tanh(_ROOT * (x + _CUBE * x**3))``, given ``x**2``."""
    bent = square * _CUBE
    bent += 1
    bent *= x
    bent *= _ROOT
    return np.tanh(bent)


def _gelu_by_tanh(x: Any) -> Any:
    share = _bent(x, x * x)
    share += 1
    share *= x
    share *= 0.5
    return share


def _slope_by_tanh(x: Any) -> Any:
    square = x * x
    bent = _bent(x, square)
    slope = 1 - bent * bent
    square *= 3 * _CUBE
    square += 1
    slope *= square
    slope *= x
    slope *= _ROOT
    slope += bent
    slope += 1
    slope *= 0.5
    return slope


def _slope_by_cdf(x: Any) -> Any:
    slope = x * x
    slope *= -0.5
    slope = np.exp(slope)
    slope *= x
    slope /= math.sqrt(2 * math.pi)
    slope += ndtr_beside(x)
    return slope


@in_blocks
def gelu_slope(x: Any, approximate: str) -> Any:
    """Return the derivative of :func:`gelu`."""
    if isinstance(x, np.ndarray):
        return _slope_by_cdf(x) if approximate == "none" else _slope_by_tanh(x)
    if approximate == "none":
        share = normal_cdf(x)
        return share + x * (exp(x * x * -0.5) / math.sqrt(2 * math.pi))
    bent = tanh((x + x * x * x * _CUBE) * _ROOT)
    slope = (1 - bent * bent) * (1 + x * x * (3 * _CUBE)) * _ROOT
    return (1 + bent + x * slope) * 0.5


@pointwise(
    ndtr,
    self=lambda g, self: g * (exp(self * self * -0.5) / math.sqrt(2 * math.pi)),
)
def normal_cdf(self):
    """Return the distribution function of the normal distribution."""


@pointwise(
    floats="silu_cpu",
    self=lambda g, self: g * silu_slope(self, sigmoid(self)),
)
@in_blocks
def silu(self):
    """Return ``self * sigmoid(self)``."""
    return np.multiply(share := logistic(self), self, share if share.ndim else None)


def silu_slope(x: Any, share: Any) -> Any:
    """Return the derivative of :func:`silu`, given ``sigmoid(x)``."""
    if not isinstance(x, np.ndarray):
        return share * (1 + x * (1 - share))
    slope = 1 - share
    slope *= x
    slope += 1
    slope *= share
    return slope


def log_1_exp(x: Any) -> Any:
    """Return ``log(1 + exp(x))`` of arrays without overflow; ``np.logaddexp`` takes 20 times as
    long."""
    rest = np.abs(x)
    if type(rest) is not np.ndarray:
        return np.maximum(x, 0) + np.log1p(np.exp(-rest))
    for ufunc in (np.negative, np.exp, np.log1p):
        ufunc(rest, rest)
    return np.add(rest, np.maximum(x, 0), rest)


@pointwise(
    floats="mish_cpu",
    self=lambda g, self: g * mish_slope(self),
)
@in_blocks
def mish(self):
    """Return ``self * tanh(softplus(self))``."""
    return self * np.tanh(log_1_exp(self))


@in_blocks
def mish_slope(x: Any) -> Any:
    """Return the derivative of :func:`mish`."""
    bent = tanh(softplus(x))
    return bent + x * (1 - bent * bent) * sigmoid(x)


@pointwise(
    floats="softplus_cpu",
    self=lambda g, self, beta, threshold: where(
        self * beta > threshold, g, g * sigmoid(self * beta)
    ),
)
@in_blocks
def softplus(self, *, beta=1.0, threshold=20.0):
    """Return ``log(1 + exp(beta * self)) / beta``; ``self`` itself where ``beta * self`` is above
    ``threshold``."""
    if beta == 1 and threshold >= 20 and self.dtype == np.float32:
        return log_1_exp(self)  # which is `self` itself above 17
    scaled = self * beta
    return chosen(scaled > threshold, self, log_1_exp(scaled) / beta)


@pointwise(
    floats="log_sigmoid_cpu",
    self=lambda g, self: g * sigmoid(-self),
)
@in_blocks
def log_sigmoid(self):
    """Return the logarithm of the logistic function."""
    return -log_1_exp(-self)


@pointwise(
    floats="leaky_relu_cpu",
    self=lambda g, self, negative_slope: where(self > 0, g, g * negative_slope),
    second=Second("LeakyReluBackwardBackward0"),
    inplace_node="LeakyReluBackward1",
)
@in_blocks
def leaky_relu(self, *, negative_slope=0.01):
    """Return ``self`` where it is positive, else ``negative_slope * self``."""
    if 0 <= negative_slope <= 1:
        return np.maximum(self, self * negative_slope)  # without the branches of `np.where`
    return np.where(self > 0, self, self * negative_slope)


@pointwise(
    floats="prelu_cpu",
    node="PreluKernelBackward0",
    self=lambda g, self, weight: where(self > 0, g, g * weight),
    second=Second(
        "PreluKernelBackwardBackward0",
        others={"weight": lambda g, grad, self: where(self > 0, 0, g * grad)},
    ),
    weight=lambda g, self: where(self > 0, 0, g * self),
)
def prelu(self, weight):
    """Return ``self`` where it is positive, else ``weight * self``."""
    return np.where(self > 0, self, self * weight)


@pointwise(
    floats="leaky_relu_cpu",
    self=lambda g, self, noise: where(self > 0, g, g * noise),
    second=Second("RreluWithNoiseBackwardBackward0"),
)
def rrelu_with_noise(self, noise):
    """Return ``self`` where it is positive, else ``noise * self``; the slopes are random, and no
    input."""
    return np.where(self > 0, self, self * noise)


@pointwise(
    bools="Bool inputs not supported for hardtanh",
    self=lambda g, self, min_val, max_val: where(beyond(self, low=min_val, high=max_val), 0, g),
    second=Second("HardtanhBackwardBackward0"),
)
def hardtanh(self, *, min_val=-1.0, max_val=1.0):
    """Return ``self`` held between two numbers, whole ones for whole numbers."""
    if self.dtype.kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
        if self.dtype.kind == "u" and min(min_val, max_val) < 0:
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return np.clip(self, min_val, max_val)


@pointwise(result_dtype="bool")
def beyond(self, *, low, high):
    """Return where ``self <= low`` or ``high <= self``, which NaN is not."""
    return np.logical_or(np.less_equal(self, low), np.greater_equal(self, high))


@pointwise(result_dtype="bool")
def between(self, *, low, high):
    """Return where ``low < self < high``."""
    return np.logical_and(np.greater(self, low), np.less(self, high))


@pointwise(
    floats="hardsigmoid_cpu",
    self=lambda g, self: where(between(self, low=-3, high=3), g / 6, 0),
    second=Second("HardsigmoidBackwardBackward0"),
)
@in_blocks
def hardsigmoid(self):
    """Return ``self / 6 + 1 / 2`` held between 0 and 1."""
    return np.clip(self + 3, 0, 6) / 6


@pointwise(
    floats="hardswish_cpu",
    self=lambda g, self: where(
        between(self, low=-3, high=3), g * (self / 3 + 0.5), where(self < 3, 0, g)
    ),
)
@in_blocks
def hardswish(self):
    """Return ``self * hardsigmoid(self)``."""
    return self * (np.clip(self + 3, 0, 6) / 6)


@pointwise(
    floats="hardshrink_cpu",
    self=lambda g, self, lambd: where(within(self, min=-lambd, max=lambd), 0, g),
    second=Second("HardshrinkBackwardBackward0"),
)
def hardshrink(self, *, lambd=0.5):
    """Return ``self``, but 0 between ``-lambd`` and ``lambd``."""
    return np.where(np.abs(self) <= lambd, np.zeros_like(self), self)


@pointwise(
    floats="softshrink_check",
    self=lambda g, self, lambd: where(within(self, min=-lambd, max=lambd), 0, g),
    second=Second("SoftshrinkBackwardBackward0"),
)
def softshrink(self, *, lambd=0.5):
    """Return ``self`` moved towards 0 by ``lambd``, and no further."""
    return self - np.clip(self, -lambd, lambd)


@pointwise(
    numbers="threshold_cpu",
    node="ThresholdBackward0",
    of="threshold",
    self=lambda g, self, threshold: where(self <= threshold, 0, g),
    second=Second("ThresholdBackwardBackward0"),
    inplace_node="ThresholdBackward1",
)
def threshold_(self, *, threshold, value):
    """Return ``self`` where it is above ``threshold``, else ``value``."""
    return np.where(self <= threshold, np.array(value, self.dtype), self)


@op(
    self=lambda g, self, dim: glu_backward(g, self, dim),
)
def glu(self, /, dim=-1):
    """Return the first half of ``self`` along ``dim`` times the logistic function of the second."""
    check_implemented("glu_cpu", self)
    if self.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    if self.shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {wrapped(dim, self.ndim)} is size "
            f"{self.shape[dim]}"
        )
    first, second = np.split(self, 2, dim)
    return first * (np.tanh(second * 0.5) * 0.5 + 0.5)


def glu_backward(g: Any, x: Any, dim: int) -> Any:
    """Return the gradients of both halves, joined."""
    half = x.shape[dim] // 2
    first, gate = slice_(x, dim, 0, half, 1), sigmoid(slice_(x, dim, half, 2 * half, 1))
    parts = g * gate, g * first * (gate * (1 - gate))
    return cat(parts, dim=dim)
