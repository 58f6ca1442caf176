"""Elementwise choices and blends of two or three tensors."""

from __future__ import annotations

import numpy as np

from autograd_core.op import Sample, op, pointwise
from autograd_core.ops.checks import fitting_number
from autograd_core.ops.elementwise import PAIR, where, zeros_of
from autograd_core.ops.logic import isnan, logical_and, logical_or

_THREE = (Sample(((2, 3), (2, 3), (2, 3))), Sample(((2, 3), (3,), (2, 1)), {"value": 0.5}))
_BOUNDS = (
    Sample(([[-2.0], [0.5]], [-1.0, 0.0, 0.7], 0.6)),
    Sample(([-2.0, 0.5, 3.0], [-1.0, 1.0, 0.0], None)),
    Sample(([-2.0, 0.5, 3.0], None, [1.0, 0.0, 5.0])),
)


@pointwise(
    np.maximum,
    x=lambda g, x, y: where(x < y, 0, where(x == y, g / 2, g)),
    y=lambda g, x, y: where(x > y, 0, where(x == y, g / 2, g)),
    samples=PAIR,
    variants="function method",
)
def maximum(x, y):
    """The larger of two; the gradient is shared between equals."""


@pointwise(
    np.minimum,
    x=lambda g, x, y: where(x > y, 0, where(x == y, g / 2, g)),
    y=lambda g, x, y: where(x < y, 0, where(x == y, g / 2, g)),
    samples=PAIR,
    variants="function method",
)
def minimum(x, y):
    """The smaller of two; the gradient is shared between equals."""


@pointwise(
    np.fmax,
    x=lambda g, x, y: where(logical_or(x >= y, isnan(y)), g, 0),
    y=lambda g, x, y: where(logical_or(x >= y, isnan(y)), 0, g),
    samples=PAIR,
    variants="function method",
)
def fmax(x, y):
    """The larger of two, a number rather than NaN."""


@pointwise(
    np.fmin,
    x=lambda g, x, y: where(logical_or(x <= y, isnan(y)), g, 0),
    y=lambda g, x, y: where(logical_or(x <= y, isnan(y)), 0, g),
    samples=PAIR,
    variants="function method",
)
def fmin(x, y):
    """The smaller of two, a number rather than NaN."""


@pointwise(
    x=lambda g, x, bound: where(x <= bound, g, 0),
    samples=(Sample(([-2.0, 0.5, 3.0],), {"bound": 1.0}),),
)
def clamp_max(x, *, bound):
    """``x``, or the number ``bound`` where ``x`` is above it."""
    return np.minimum(x, bound)


@pointwise(
    x=lambda g, x, bound: where(x >= bound, g, 0),
    samples=(Sample(([-2.0, 0.5, 3.0],), {"bound": 1.0}),),
)
def clamp_min(x, *, bound):
    """``x``, or the number ``bound`` where ``x`` is below it."""
    return np.maximum(x, bound)


@pointwise(
    np.minimum,
    of="clamp_max",
    node="ClampMaxBackward1",
    x=lambda g, x, y: where(x <= y, g, 0),
    y=lambda g, x, y: where(x > y, g, 0),
    samples=PAIR,
)
def clamp_max_tensor(x, y):
    """``x``, or ``y`` where ``x`` is above it."""


@pointwise(
    np.maximum,
    of="clamp_min",
    node="ClampMinBackward1",
    x=lambda g, x, y: where(x >= y, g, 0),
    y=lambda g, x, y: where(x < y, g, 0),
    samples=PAIR,
)
def clamp_min_tensor(x, y):
    """``x``, or ``y`` where ``x`` is below it."""


@op(
    x=lambda g, x, low, high: where(_within(x, low, high), g, 0),
    low=lambda g, x, low, high: where(_below(x, low, high), g, 0),
    high=lambda g, x, low, high: where(_above(x, low, high), g, 0),
    broadcasts="x low high",
    of="clamp",
    node="ClampBackward0",
    samples=_BOUNDS,
)
def clamp_tensors(x, low=None, high=None, /):
    """``x`` held between two tensors, one of which may be left out; all broadcast."""
    if low is not None:
        x = np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def _within(x, low, high):
    if low is None or high is None:
        return x <= high if low is None else x >= low
    return logical_and(x >= low, x <= high)


def _below(x, low, high):
    return x < low if high is None else logical_and(x < low, low < high)


def _above(x, low, high):
    return x > high if low is None else logical_or(x > high, high < low)


@pointwise(
    of="lerp",
    node="LerpBackward0",
    start=lambda g, weight: g * (1 - weight),
    end=lambda g, weight: g * weight,
    linear=True,
    samples=(Sample(((2, 3), (3,)), {"weight": 0.3}),),
)
def lerp_number(start, end, *, weight):
    """The point ``weight`` of the way from ``start`` to ``end``."""
    return _lerp(start, end, weight)


@pointwise(
    of="lerp",
    node="LerpBackward1",
    start=lambda g, weight: g * (1 - weight),
    end=lambda g, weight: g * weight,
    weight=lambda g, start, end: g * (end - start),
    samples=(Sample(((2, 3), (3,), (2, 1))), Sample(((2,), (2,), (2,)))),
)
def lerp_tensor(start, end, weight):
    """The points ``weight`` of the way from ``start`` to ``end``."""
    return _lerp(start, end, weight)


def _lerp(start, end, weight):
    # from the nearer end, so that both ends are met exactly
    far = np.abs(weight) >= 0.5
    return np.where(far, end - (end - start) * (1 - weight), start + weight * (end - start))


@pointwise(
    numbers="addcmul_cpu_out",
    x=lambda g: g,
    y=lambda g, z, value: g * (z * value),
    z=lambda g, y, value: g * (y * value),
    samples=_THREE,
    variants="function method inplace",
)
def addcmul(x, y, z, *, value=1):
    """``x + value * y * z``."""
    return np.add(x, fitting_number(value, x.dtype) * (y * z))


@pointwise(
    x=lambda g: g,
    y=lambda g, z, value: g * (value / z),
    z=lambda g, y, z, value: -g * (value * y / (z * z)),
    samples=(
        Sample(((2, 3), (2, 3), [[0.5], [2.0]])),
        Sample(((2,), (2,), [-0.5, 2.0]), {"value": 0.5}),
    ),
)
def addcdiv(x, y, z, *, value=1):
    """``x + value * y / z``."""
    return np.add(x, value * (y / z))


@pointwise(
    of="fill",
    node="FillBackward1",
    keeps="y",
    x=lambda g: zeros_of(g),
    y=lambda g: g,
    samples=(Sample(((2, 3), ())),),
)
def fill_tensor(x, y):
    """The one value of ``y`` in every place of ``x``."""
    return np.full_like(x, y)


@pointwise(
    of="rsub",
    node="RsubBackward0",
    linear=True,
    x=lambda g, alpha: -g if alpha == 1 else -g * alpha,
    y=lambda g: g,
    samples=(Sample(((2, 3), (3,))), Sample(((2, 1), (2, 3)), {"alpha": 2})),
)
def rsub_tensor(x, y, *, alpha=1):
    """``y - alpha * x``."""
    return np.subtract(y, x if alpha == 1 else alpha * x)
