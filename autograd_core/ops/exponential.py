"""Powers, exponentials and logarithms."""

from __future__ import annotations

import math

import numpy as np

from autograd_core.op import Sample, pointwise
from autograd_core.ops.elementwise import (
    ONE,
    PAIR,
    POSITIVE,
    exp,
    log,
    natural_log,
    where,
    within,
)
from autograd_core.ops.logic import logical_and

_LN2, _LN10 = math.log(2), math.log(10)
_POSITIVE_PAIR = (Sample(([0.5, 1.0, 2.5], [3.0, 0.25, 1.0])), Sample(([[0.5], [2.0]], [1.5, 3.0])))


@pointwise(
    np.exp2,
    result="float",
    x=lambda g, ans: g * (ans * _LN2),
    samples=ONE,
    variants="function method inplace",
    aliases="special.exp2",
)
def exp2(x):
    """2 to the power of ``x``."""


@pointwise(
    np.expm1,
    result="float",
    x=lambda g, ans: g * (ans + 1),
    samples=ONE,
    variants="function method inplace",
    aliases="special.expm1",
)
def expm1(x):
    """``exp(x) - 1``, exact also for small ``x``."""


@pointwise(
    np.log1p,
    result="float",
    node="Log1PBackward0",
    x=lambda g, x: g / (x + 1),
    samples=POSITIVE,
    variants="function method inplace",
    aliases="special.log1p",
)
def log1p(x):
    """``log(1 + x)``, exact also for small ``x``."""


@pointwise(
    np.log2,
    result="float",
    x=lambda g, x: g / (x * _LN2),
    samples=POSITIVE,
    variants="function method inplace",
)
def log2(x):
    """Logarithm to base 2."""


@pointwise(
    np.log10,
    result="float",
    x=lambda g, x: g / (x * _LN10),
    samples=POSITIVE,
    variants="function method inplace",
)
def log10(x):
    """Logarithm to base 10."""


@pointwise(
    result="float",
    x=lambda g, ans: g * (ans * ans * ans) / -2,
    samples=POSITIVE,
    variants="function method inplace",
)
def rsqrt(x):
    """``1 / sqrt(x)``; infinite at 0, NaN below."""
    return np.reciprocal(np.sqrt(x))


@pointwise(
    floats="logaddexp_cpu",
    x=lambda g, x, y: g / (1 + exp(y - x)),
    y=lambda g, x, y: g / (1 + exp(x - y)),
    samples=PAIR,
    variants="function method",
)
def logaddexp(x, y):
    """``log(exp(x) + exp(y))`` without overflow."""
    return np.logaddexp(x, y)


@pointwise(
    floats="logaddexp2_cpu",
    x=lambda g, x, y: g / (1 + exp2(y - x)),
    y=lambda g, x, y: g / (1 + exp2(x - y)),
    samples=PAIR,
    variants="function method",
)
def logaddexp2(x, y):
    """``log2(2**x + 2**y)`` without overflow."""
    return np.logaddexp2(x, y)


def _xlogy(x, y):
    return np.where(np.logical_and(x == 0, ~np.isnan(y)), 0, x * np.log(y)).astype(y.dtype)


@pointwise(
    result="float",
    x=lambda g, x, y: where(logical_and(x == 0, y <= 0), 0, g * log(y)),
    y=lambda g, x, y: g * x / y,
    samples=_POSITIVE_PAIR,
)
def xlogy(x, y):
    """``x * log(y)``, and 0 where ``x`` is, unless ``y`` is NaN."""
    return _xlogy(x, y)


@pointwise(
    of="xlogy",
    node="XlogyBackward2",
    result="float",
    linear=True,
    x=lambda g, number: g * natural_log(number),
    samples=(Sample(((2, 3),), {"number": 2.5}),),
)
def xlogy_number(x, *, number):
    """``x * log(number)``."""
    return _xlogy(x, np.asarray(number, x.dtype))


@pointwise(
    of="xlogy",
    node="XlogyBackward1",
    result="float",
    y=lambda g, y, number: g * number / y,
    samples=(Sample(([0.5, 2.0],), {"number": 2.5}),),
)
def xlogy_of_number(y, *, number):
    """``number * log(y)``."""
    return _xlogy(np.asarray(number, y.dtype), y)


@pointwise(
    result="float",
    x=lambda g, x, eps: where(_inside(x, eps), g / (x * (1 - x)), math.nan if eps is None else 0),
    samples=(Sample(([0.2, 0.5, 0.9],)), Sample(([0.01, 0.5, 0.99],), {"eps": 0.1})),
)
def logit(x, *, eps=None):
    """``log(x / (1 - x))``, of ``x`` held between ``eps`` and ``1 - eps`` if that is given."""
    if eps is not None:
        x = np.clip(x, eps, 1 - eps)
    return np.log(x / (1 - x))


def _inside(x, eps):
    return within(x, min=0, max=1) if eps is None else within(x, min=eps, max=1 - eps)


@pointwise(
    result="float",
    x=lambda g, y: ldexp(g, y),
    y=lambda g, ans: g * (ans * _LN2),
    samples=PAIR,
    variants="function method inplace",
)
def ldexp(x, y):
    """``x * 2**y``."""
    return np.multiply(x, np.exp2(y, dtype=x.dtype))
