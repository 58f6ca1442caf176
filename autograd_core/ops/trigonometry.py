"""Trigonometric and hyperbolic functions, their inverses, and angles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import Sample, pointwise
from autograd_core.ops.elementwise import ONE, PAIR, POSITIVE, cos, sqrt, where, zeros_of

_WITHIN_ONE = (Sample(([-0.5, 0.25, 0.75],)), Sample(([[0.0, 0.5]],)))


@pointwise(
    np.tan,
    result="float",
    x=lambda g, ans: g * (1 + ans * ans),
    samples=ONE,
    variants="function method inplace",
)
def tan(x):
    """Tangent of an angle in radians."""


@pointwise(
    np.arcsin,
    result="float",
    x=lambda g, x: g / sqrt(1 - x * x),
    samples=_WITHIN_ONE,
    variants="function method inplace",
    aliases="arcsin",
)
def asin(x):
    """The angle whose sine is ``x``; NaN beyond -1 and 1."""


@pointwise(
    np.arccos,
    result="float",
    x=lambda g, x: -g / sqrt(1 - x * x),
    samples=_WITHIN_ONE,
    variants="function method inplace",
    aliases="arccos",
)
def acos(x):
    """The angle whose cosine is ``x``; NaN beyond -1 and 1."""


@pointwise(
    np.arctan,
    result="float",
    x=lambda g, x: g / (x * x + 1),
    samples=ONE,
    variants="function method inplace",
    aliases="arctan",
)
def atan(x):
    """The angle whose tangent is ``x``."""


@pointwise(
    np.sinh,
    result="float",
    x=lambda g, x: g * cosh(x),
    samples=ONE,
    variants="function method inplace",
)
def sinh(x):
    """Hyperbolic sine."""


@pointwise(
    np.cosh,
    result="float",
    x=lambda g, x: g * sinh(x),
    samples=ONE,
    variants="function method inplace",
)
def cosh(x):
    """Hyperbolic cosine."""


@pointwise(
    np.arcsinh,
    result="float",
    x=lambda g, x: g / sqrt(x * x + 1),
    samples=ONE,
    variants="function method inplace",
    aliases="arcsinh",
)
def asinh(x):
    """Inverse of the hyperbolic sine."""


@pointwise(
    np.arccosh,
    result="float",
    x=lambda g, x: g / sqrt(x * x - 1),
    samples=(Sample(([1.5, 2.0],)), Sample(([[4.0]],))),
    variants="function method inplace",
    aliases="arccosh",
)
def acosh(x):
    """Inverse of the hyperbolic cosine; NaN below 1."""


@pointwise(
    np.arctanh,
    result="float",
    x=lambda g, x: g / (1 - x * x),
    samples=_WITHIN_ONE,
    variants="function method inplace",
    aliases="arctanh",
)
def atanh(x):
    """Inverse of the hyperbolic tangent; NaN beyond -1 and 1."""


@pointwise(
    np.arctan2,
    result="float",
    x=lambda g, x, y: _over_square(g, y, x, y),
    y=lambda g, x, y: _over_square(-g, x, x, y),
    samples=PAIR,
    variants="function method inplace",
    aliases="arctan2",
)
def atan2(x, y):
    """The angle between the positive abscissa and the point (y, x)."""


def _over_square(g: Any, side: Any, x: Any, y: Any) -> Any:
    """``g * side`` over the squared distance of (y, x) from the origin, and 0 there."""
    square = x * x + y * y
    if square.all():
        return g * (side / square)
    return g * side * where(square == 0, 0, 1 / square)


@pointwise(
    floats="hypot_cpu",
    x=lambda g, x, ans: g * (x / ans),
    y=lambda g, y, ans: g * (y / ans),
    samples=PAIR,
    variants="function method inplace",
)
def hypot(x, y):
    """The length of the hypotenuse over ``x`` and ``y``."""
    return np.hypot(x, y)


@pointwise(
    linear=True,
    result="float",
    node="Deg2RadBackward0",
    x=lambda g: g * (math.pi / 180),
    samples=ONE,
    variants="function method inplace",
)
def deg2rad(x):
    """Degrees in radians."""
    return x * (math.pi / 180)


@pointwise(
    linear=True,
    result="float",
    node="Rad2DegBackward0",
    x=lambda g: g * (180 / math.pi),
    samples=ONE,
    variants="function method inplace",
)
def rad2deg(x):
    """Radians in degrees."""
    return x * (180 / math.pi)


@pointwise(
    result="float",
    x=lambda g, x, ans: where(x == 0, 0, g * ((cos(x * math.pi) - ans) / x)),
    samples=POSITIVE,
    variants="function method inplace",
    aliases="special.sinc",
)
def sinc(x):
    """``sin(pi x) / (pi x)``, and 1 at 0."""
    return np.sinc(x).astype(x.dtype)


@pointwise(result="float", x=lambda g: zeros_of(g), samples=ONE, variants="function method")
def angle(x):
    """The argument of a real number: 0, or pi where it is negative."""
    return np.where(np.isnan(x), x, np.where(x < 0, math.pi, 0)).astype(x.dtype)
