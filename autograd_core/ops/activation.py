"""Activation functions, elementwise; their derivatives at a kink are PyTorch's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import Sample, Second, op, pointwise
from autograd_core.ops.blocks import in_blocks
from autograd_core.ops.checks import check_implemented
from autograd_core.ops.elementwise import exp, sigmoid, tanh, where, within
from autograd_core.ops.index import slice_
from autograd_core.ops.joining import cat
from autograd_core.ops.normal import ndtr, ndtr_beside
from autograd_core.tensor.dimensions import wrapped

BOTH = (Sample(([-1.5, -0.2, 0.3, 2.0],)), Sample(([[-0.7], [4.0]],)))


@pointwise(
    floats="elu_cpu",
    x=lambda g, x, alpha, scale, input_scale: where(
        x <= 0, g * (scale * alpha * input_scale * exp(_negative(x) * input_scale)), g * scale
    ),
    samples=(
        *BOTH,
        Sample(([-1.0, 2.0],), {"alpha": 0.5, "scale": 1.5, "input_scale": 0.7}),
    ),
)
@in_blocks
def elu(x, *, alpha=1.0, scale=1.0, input_scale=1.0):
    """``scale * x`` where ``x`` is positive, else
    ``scale * alpha * (exp(input_scale * x) - 1)``."""
    below = alpha * np.expm1(np.minimum(x, 0) * input_scale)
    return (np.where(x > 0, x, below) * scale).astype(x.dtype, copy=False)


@pointwise(
    floats="elu_cpu",
    x=lambda g, x, alpha: where(x <= 0, g * exp(_negative(x) / alpha), g),
    samples=(*BOTH, Sample(([-1.0, 2.0],), {"alpha": 0.5})),
)
@in_blocks
def celu(x, *, alpha=1.0):
    """``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)``."""
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))


def _negative(x: Any) -> Any:
    """``x`` where it is negative, else 0, and constant at 0."""
    return where(x < 0, x, 0)


_ROOT, _CUBE = math.sqrt(2 / math.pi), 0.044715


@pointwise(
    floats="GeluKernelImpl",
    x=lambda g, x, approximate: g * gelu_slope(x, approximate),
    samples=(*BOTH, Sample(([-1.0, 2.0],), {"approximate": "tanh"})),
)
@in_blocks
def gelu(x, *, approximate="none"):
    """``x`` times the normal distribution function of ``x``; ``approximate="tanh"`` for the
    approximation of that by the hyperbolic tangent."""
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(_ROOT * (x + _CUBE * x * x * x)))
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return x * ndtr_beside(x)


@in_blocks
def gelu_slope(x: Any, approximate: str) -> Any:
    """The derivative of :func:`gelu`."""
    if approximate == "none":
        share = ndtr_beside(x) if isinstance(x, np.ndarray) else normal_cdf(x)
        return share + x * (exp(x * x * -0.5) / math.sqrt(2 * math.pi))
    bent = tanh((x + x * x * x * _CUBE) * _ROOT)
    slope = (1 - bent * bent) * (1 + x * x * (3 * _CUBE)) * _ROOT
    return (1 + bent + x * slope) * 0.5


@pointwise(
    ndtr,
    x=lambda g, x: g * (exp(x * x * -0.5) / math.sqrt(2 * math.pi)),
    samples=BOTH,
)
def normal_cdf(x):
    """The distribution function of the normal distribution."""


@pointwise(
    floats="silu_cpu",
    x=lambda g, x: g * (sigmoid(x) * (1 + x * (1 - sigmoid(x)))),
    samples=BOTH,
)
@in_blocks
def silu(x):
    """``x * sigmoid(x)``."""
    return x * (np.tanh(x * 0.5) * 0.5 + 0.5)


@pointwise(floats="mish_cpu", x=lambda g, x: g * mish_slope(x), samples=BOTH)
@in_blocks
def mish(x):
    """``x * tanh(softplus(x))``."""
    return x * np.tanh(np.logaddexp(x, 0))


@in_blocks
def mish_slope(x: Any) -> Any:
    """The derivative of :func:`mish`."""
    bent = tanh(softplus(x))
    return bent + x * (1 - bent * bent) * sigmoid(x)


@pointwise(
    floats="softplus_cpu",
    x=lambda g, x, beta, threshold: where(x * beta > threshold, g, g * sigmoid(x * beta)),
    samples=(*BOTH, Sample(([-1.0, 0.5, 4.0],), {"beta": 2.0, "threshold": 3.0})),
)
@in_blocks
def softplus(x, *, beta=1.0, threshold=20.0):
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself where ``beta * x`` is above
    ``threshold``."""
    scaled = x * beta
    return np.where(scaled > threshold, x, np.logaddexp(scaled, 0) / beta)


@pointwise(floats="log_sigmoid_cpu", x=lambda g, x: g * sigmoid(-x), samples=BOTH)
@in_blocks
def log_sigmoid(x):
    """The logarithm of the logistic function."""
    return -np.logaddexp(-x, 0)


@pointwise(
    floats="leaky_relu_cpu",
    x=lambda g, x, negative_slope: where(x > 0, g, g * negative_slope),
    second=Second("LeakyReluBackwardBackward0"),
    samples=(*BOTH, Sample(([-1.0, 2.0],), {"negative_slope": 0.3})),
)
def leaky_relu(x, *, negative_slope=0.01):
    """``x`` where it is positive, else ``negative_slope * x``."""
    return np.where(x > 0, x, x * negative_slope)


@pointwise(
    floats="prelu_cpu",
    node="PreluKernelBackward0",
    x=lambda g, x, weight: where(x > 0, g, g * weight),
    second=Second(
        "PreluKernelBackwardBackward0",
        others={"weight": lambda g, grad, x: where(x > 0, 0, g * grad)},
    ),
    weight=lambda g, x: where(x > 0, 0, g * x),
    samples=(Sample(([[-1.0, 2.0], [0.5, -3.0]], [0.1, 0.4])),),
)
def prelu(x, weight):
    """``x`` where it is positive, else ``weight * x``."""
    return np.where(x > 0, x, x * weight)


@pointwise(
    floats="leaky_relu_cpu",
    x=lambda g, x, noise: where(x > 0, g, g * noise),
    second=Second("RreluWithNoiseBackwardBackward0"),
    samples=(Sample(([-1.0, 2.0, -0.5], [0.2, 1.0, 0.3])), Sample(([[-1.0], [2.0]], [0.2, 0.3]))),
)
def rrelu_with_noise(x, noise):
    """``x`` where it is positive, else ``noise * x``; the slopes are random, and no input."""
    return np.where(x > 0, x, x * noise)


@pointwise(
    numbers="hardtanh",
    x=lambda g, x, min_val, max_val: where(beyond(x, low=min_val, high=max_val), 0, g),
    second=Second("HardtanhBackwardBackward0"),
    samples=(*BOTH, Sample(([-1.0, 2.0, 7.0],), {"min_val": 0.0, "max_val": 6.0})),
)
def hardtanh(x, *, min_val=-1.0, max_val=1.0):
    """``x`` held between two numbers, whole ones for whole numbers."""
    if x.dtype.kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
        if x.dtype.kind == "u" and min(min_val, max_val) < 0:
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return np.clip(x, min_val, max_val)


@pointwise(result="bool")
def beyond(x, *, low, high):
    """Where ``x <= low`` or ``high <= x``, which NaN is not."""
    return np.logical_or(np.less_equal(x, low), np.greater_equal(x, high))


@pointwise(result="bool")
def between(x, *, low, high):
    """Where ``low < x < high``."""
    return np.logical_and(np.greater(x, low), np.less(x, high))


@pointwise(
    floats="hardsigmoid_cpu",
    x=lambda g, x: where(between(x, low=-3, high=3), g / 6, 0),
    second=Second("HardsigmoidBackwardBackward0"),
    samples=BOTH,
)
@in_blocks
def hardsigmoid(x):
    """``x / 6 + 1 / 2`` held between 0 and 1."""
    return np.clip(x + 3, 0, 6) / 6


@pointwise(
    floats="hardswish_cpu",
    x=lambda g, x: where(between(x, low=-3, high=3), g * (x / 3 + 0.5), where(x < 3, 0, g)),
    samples=(*BOTH, Sample(([-4.0, 5.0],))),
)
@in_blocks
def hardswish(x):
    """``x * hardsigmoid(x)``."""
    return x * (np.clip(x + 3, 0, 6) / 6)


@pointwise(
    floats="hardshrink_cpu",
    x=lambda g, x, lambd: where(within(x, min=-lambd, max=lambd), 0, g),
    second=Second("HardshrinkBackwardBackward0"),
    samples=(*BOTH, Sample(([-1.0, 2.0],), {"lambd": 1.5})),
)
def hardshrink(x, *, lambd=0.5):
    """``x``, but 0 between ``-lambd`` and ``lambd``."""
    return np.where(np.abs(x) <= lambd, np.zeros_like(x), x)


@pointwise(
    floats="softshrink_check",
    x=lambda g, x, lambd: where(within(x, min=-lambd, max=lambd), 0, g),
    second=Second("SoftshrinkBackwardBackward0"),
    samples=(*BOTH, Sample(([-1.0, 2.0],), {"lambd": 1.5})),
)
def softshrink(x, *, lambd=0.5):
    """``x`` moved towards 0 by ``lambd``, and no further."""
    return x - np.clip(x, -lambd, lambd)


@pointwise(
    numbers="threshold_cpu",
    node="ThresholdBackward0",
    of="threshold",
    x=lambda g, x, threshold: where(x <= threshold, 0, g),
    second=Second("ThresholdBackwardBackward0"),
    samples=(Sample(([-1.0, 0.5, 2.0],), {"threshold": 0.7, "value": 20.0}),),
)
def threshold_(x, *, threshold, value):
    """``x`` where it is above ``threshold``, else ``value``."""
    return np.where(x <= threshold, np.array(value, x.dtype), x)


@op(
    x=lambda g, x, dim: glu_backward(g, x, dim),
    samples=(Sample(((2, 4),)), Sample(((2, 4, 3),), {"dim": 1})),
)
def glu(x, /, dim=-1):
    """The first half of ``x`` along ``dim`` times the logistic function of the second."""
    check_implemented("glu_cpu", x)
    if x.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    if x.shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {wrapped(dim, x.ndim)} is size "
            f"{x.shape[dim]}"
        )
    first, second = np.split(x, 2, dim)
    return first * (np.tanh(second * 0.5) * 0.5 + 0.5)


def glu_backward(g: Any, x: Any, dim: int) -> Any:
    """The gradients of both halves, joined."""
    half = x.shape[dim] // 2
    first, gate = slice_(x, dim, 0, half, 1), sigmoid(slice_(x, dim, half, 2 * half, 1))
    parts = g * gate, g * first * (gate * (1 - gate))
    return cat(parts, dim=dim)
