"""Activation functions, elementwise; their derivatives at a kink are PyTorch's.

``relu``, ``sigmoid`` and ``tanh`` are in :mod:`autograd_core.ops.pointwise.elementwise`.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_core.op import Second, computed_by, op, pointwise
from autograd_core.op.blocks import in_blocks, in_passes, numbers
from autograd_core.ops.checks import check_implemented
from autograd_core.ops.indices.index import slice_
from autograd_core.ops.pointwise.elementwise import (
    chosen,
    exp,
    logistic_passes,
    sigmoid,
    tanh,
    where,
    within,
)
from autograd_core.ops.scipy_functions import special
from autograd_core.ops.shaping.joining import cat
from autograd_core.tensor.size import wrapped

# Of atanh(2 * ndtr(x) - 1) / x in powers of x ** 2: least squares at the Chebyshev points of
# |x| < 5.6, each weighted by what an error there does to the result.
_POWERS: Final = tuple(
    np.array(number, np.float32)
    for number in (
        1.5744227e-09, -1.25710812e-07, 3.88232274e-06, -5.48586759e-05, -3.36457852e-05,
        0.0363340117, 0.797884762,
    )
)  # fmt: skip


def ndtr(x: Any) -> Any:
    """SciPy's, correct to the last digits, also far out where it is almost 0."""
    return special("ndtr", x)


def normal_bend(out: Any, square: Any, x: Any) -> None:
    """Compute ``2 * ndtr(x) - 1`` of float32 to 2.4e-7, and ``x**2``; ``x * ndtr(x)`` then is as
    exact as in PyTorch, in a sixth of the time that SciPy takes.

    Far out, where the powers overflow, it is 1 all the same.
    """
    with np.errstate(over="ignore"):
        np.multiply(x, x, square)
        highest, *others = _POWERS
        np.multiply(square, highest, out)
        for number in others[:-1]:
            out += number
            out *= square
        out += others[-1]
        out *= x
    np.tanh(out, out)


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


_ROOT: Final = math.sqrt(2 / math.pi)
_CUBE: Final = 0.044715


@pointwise(
    floats="GeluKernelImpl",
    self=computed_by(
        lambda g, self, approximate: _gelu_gradient(g, self, approximate),
        lambda g, self, approximate: g * gelu_slope(self, approximate),
    ),
)
def gelu(self, *, approximate="none"):
    """Return ``self`` times its normal cumulative distribution function; ``approximate="tanh"``
    approximates that by the hyperbolic tangent."""
    if approximate == "tanh":
        return _gelu_by_tanh(self)
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return _gelu(self) if _bends(self) else self * ndtr(self)


def _bends(x: Any) -> bool:
    """Return whether the hyperbolic tangent stands in for SciPy's function of ``x``."""
    return x.dtype == np.float32 and x.ndim


@in_passes(1)
def _gelu(out, square, x):
    normal_bend(out, square, x)
    one, half = numbers(x.dtype, 1, 0.5)
    out += one
    out *= half
    out *= x


@in_passes(1)
def _gelu_by_tanh(out, square, x):
    one, half = numbers(x.dtype, 1, 0.5)
    np.multiply(x, x, square)
    _bend(out, square, x)
    out += one
    out *= half
    out *= x


def _bend(out, square, x):
    """Compute ``tanh(_ROOT * (x + _CUBE * x**3))``, given ``x**2``."""
    one, root, cube = numbers(x.dtype, 1, _ROOT, _CUBE)
    np.multiply(square, cube, out)
    out += one
    out *= root
    out *= x
    np.tanh(out, out)


@in_passes(2)
def _gelu_backward(out, bent, square, x, g):
    """Compute ``g * ((1 + bent) / 2 + x * density(x))``, in halves."""
    one, half, minus, root = numbers(x.dtype, 1, 0.5, -0.5, _ROOT)
    normal_bend(bent, square, x)
    square *= minus
    np.exp(square, square)
    square *= x
    square *= root
    bent += square
    bent += one
    bent *= half
    np.multiply(bent, g, out)


@in_passes(2)
def _tanh_gelu_backward(out, bent, square, x, g):
    """Compute ``g * (1 + bent + x * (1 - bent**2) * _ROOT * (1 + 3 * _CUBE * x**2)) / 2``."""
    one, half, cubes, root = numbers(x.dtype, 1, 0.5, 3 * _CUBE, _ROOT)
    np.multiply(x, x, square)
    _bend(bent, square, x)
    square *= cubes
    square += one
    square *= x
    square *= root
    np.multiply(bent, bent, out)
    np.subtract(one, out, out)
    square *= out
    bent += square
    bent += one
    bent *= half
    np.multiply(bent, g, out)


def _gelu_gradient(g: Any, x: Any, approximate: str) -> Any:
    if approximate == "tanh":
        return _tanh_gelu_backward(x, g)
    return _gelu_backward(x, g) if _bends(x) else g * gelu_slope(x, approximate)


def gelu_slope(x: Any, approximate: str) -> Any:
    """Return the derivative of :func:`gelu`."""
    if approximate == "none":
        return normal_cdf(x) + x * (exp(x * x * -0.5) / math.sqrt(2 * math.pi))
    bent = tanh((x + x * x * x * _CUBE) * _ROOT)
    slope = (1 - bent * bent) * (1 + x * x * (3 * _CUBE)) * _ROOT
    return (1 + bent + x * slope) * 0.5


@pointwise(ndtr, self=lambda g, self: g * (exp(self * self * -0.5) / math.sqrt(2 * math.pi)))
def normal_cdf(self):
    """Return the normal cumulative distribution function."""


@pointwise(
    floats="silu_cpu",
    self=computed_by(
        lambda g, self: _silu_backward(self, g), lambda g, self: g * silu_slope(self, sigmoid(self))
    ),
)
def silu(self):
    """Return ``self * sigmoid(self)``."""
    return _silu(self)


@in_passes(1)
def _silu(out, half, x):
    (by_two,) = numbers(x.dtype, 0.5)
    np.multiply(x, by_two, half)
    np.tanh(half, out)
    out *= half
    out += half


@in_passes(2)
def _silu_backward(out, half, bent, x, g):
    """Compute ``g * (1 + bent) * (1 + half - half * bent) / 2``, where ``bent`` is the hyperbolic
    tangent of half of ``x``."""
    one, by_two = numbers(x.dtype, 1, 0.5)
    np.multiply(x, by_two, half)
    np.tanh(half, bent)
    np.multiply(half, bent, out)
    half -= out
    half += one
    bent += one
    bent *= half
    bent *= by_two
    np.multiply(bent, g, out)


def silu_slope(x: Any, share: Any) -> Any:
    """Return the derivative of :func:`silu`, given ``sigmoid(x)``."""
    return share * (1 + x * (1 - share))


def log_1_exp(x: Any) -> Any:
    """Return ``log(1 + exp(x))`` without overflow; ``np.logaddexp`` takes 20 times as long."""
    rest = np.abs(x)
    if type(rest) is not np.ndarray:
        return np.maximum(x, 0) + np.log1p(np.exp(-rest))
    for ufunc in (np.negative, np.exp, np.log1p):
        ufunc(rest, rest)
    return np.add(rest, np.maximum(x, 0), rest)


@pointwise(floats="mish_cpu", self=lambda g, self: g * mish_slope(self))
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
    self=computed_by(
        lambda g, self, beta, threshold: _softplus_gradient(self, g, beta, threshold),
        lambda g, self, beta, threshold: where(
            self * beta > threshold, g, g * sigmoid(self * beta)
        ),
    ),
)
def softplus(self, *, beta=1.0, threshold=20.0):
    """Return ``log(1 + exp(beta * self)) / beta``; ``self`` itself where ``beta * self`` is above
    ``threshold``."""
    if _bends_to_the_end(self, beta, threshold):
        return _log_1_exp(self)
    return _softplus(self, beta, threshold)


def _bends_to_the_end(x: Any, beta: float, threshold: float) -> bool:
    """Return whether the result is ``x`` itself beyond the threshold, as above 17 it is."""
    return beta == 1 and threshold >= 20 and x.dtype == np.float32


@in_blocks
def _softplus(x: Any, beta: float, threshold: float) -> Any:
    scaled = x * beta
    return chosen(scaled > threshold, x, log_1_exp(scaled) / beta)


@in_passes(1)
def _log_1_exp(out, rest, x):
    np.abs(x, rest)
    for ufunc in (np.negative, np.exp, np.log1p):
        ufunc(rest, rest)
    (zero,) = numbers(x.dtype, 0)
    np.maximum(x, zero, out=out)
    out += rest


@in_passes(1)
def _times_logistic(out, share, x, g):
    logistic_passes(share, x)
    np.multiply(share, g, out)


def _softplus_gradient(x: Any, g: Any, beta: float, threshold: float) -> Any:
    if _bends_to_the_end(x, beta, threshold):
        return _times_logistic(x, g)
    return _softplus_backward(x, g, beta, threshold)


@in_blocks
def _softplus_backward(x: Any, g: Any, beta: float, threshold: float) -> Any:
    scaled = x * beta
    return where(scaled > threshold, g, g * sigmoid(scaled))


@pointwise(floats="log_sigmoid_cpu", self=lambda g, self: g * sigmoid(-self), layout="contiguous")
@in_blocks
def log_sigmoid(self):
    """Return the logarithm of the sigmoid."""
    return -log_1_exp(-self)


@pointwise(
    floats="leaky_relu_cpu",
    self=computed_by(
        lambda g, self, negative_slope: _leaky_gradient(self, g, negative_slope),
        lambda g, self, negative_slope: where(self > 0, g, g * negative_slope),
    ),
    second=Second("LeakyReluBackwardBackward0"),
    inplace_node="LeakyReluBackward1",
)
def leaky_relu(self, *, negative_slope=0.01):
    """Return ``self`` where it is positive, else ``negative_slope * self``."""
    if 0 <= negative_slope <= 1:
        return _largest(self, slope=negative_slope)  # without the branches of `np.where`
    return np.where(self > 0, self, self * negative_slope)


@in_passes(1)
def _largest(out, part, x, slope):
    np.multiply(x, slope, part)
    np.maximum(x, part, out=out)


@in_passes(1)
def _steep(out, slopes, x, g, slope):
    zero, least = numbers(x.dtype, 0, slope)
    np.copyto(slopes, np.greater(x, zero))
    # numbers from 0 to 1 are in the order of their bits, in which nobody looks for NaN
    bits = f"i{x.itemsize}"
    larger = slopes.view(bits)
    np.maximum(larger, least.view(bits), out=larger)
    np.multiply(slopes, g, out)


def _leaky_gradient(x: Any, g: Any, slope: float) -> Any:
    if 0 <= slope <= 1:
        return _steep(x, g, slope=slope)
    return where(x > 0, g, g * slope)


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
    bools="Bool inputs not supported for hardtanh",
    self=lambda g, self, min_val, max_val: where(beyond(self, low=min_val, high=max_val), 0, g),
    second=Second("HardtanhBackwardBackward0"),
)
def hardtanh(self, *, min_val=-1.0, max_val=1.0):
    """Return ``self`` clamped to a range, with integer bounds for integers."""
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
    """Return ``self / 6 + 1 / 2`` clamped to the range from 0 to 1."""
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
    """Return ``self``, with values between ``-lambd`` and ``lambd`` set to 0."""
    return np.where(np.abs(self) <= lambd, np.zeros_like(self), self)


@pointwise(
    floats="softshrink_check",
    self=lambda g, self, lambd: where(within(self, min=-lambd, max=lambd), 0, g),
    second=Second("SoftshrinkBackwardBackward0"),
)
def softshrink(self, *, lambd=0.5):
    """Return ``self``, shrunk towards 0 by ``lambd``."""
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


@op(self=lambda g, self, dim: glu_backward(g, self, dim))
def glu(self, /, dim=-1):
    """Return the first half of ``self`` along ``dim`` times the sigmoid of the second half."""
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
