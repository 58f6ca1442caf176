"""Trigonometric and hyperbolic functions, their inverses, and angles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import EVERY_FORM, FLOATING, pointwise
from autograd_core.ops.pointwise.elementwise import cos, sqrt, where, zeros_of


@pointwise(np.tan, self=lambda g, result: g * (1 + result * result), **FLOATING)
def tan(self):
    """Return the tangent of an angle in radians."""


@pointwise(np.arcsin, self=lambda g, self: g / sqrt(1 - self * self), aliases="arcsin", **FLOATING)
def asin(self):
    """Return the angle whose sine is ``self``; NaN outside [-1, 1]."""


@pointwise(np.arccos, self=lambda g, self: -g / sqrt(1 - self * self), aliases="arccos", **FLOATING)
def acos(self):
    """Return the angle whose cosine is ``self``; NaN outside [-1, 1]."""


@pointwise(np.arctan, self=lambda g, self: g / (self * self + 1), aliases="arctan", **FLOATING)
def atan(self):
    """Return the angle whose tangent is ``self``."""


@pointwise(np.sinh, self=lambda g, self: g * cosh(self), **FLOATING)
def sinh(self):
    """Return the hyperbolic sine."""


@pointwise(np.cosh, self=lambda g, self: g * sinh(self), **FLOATING)
def cosh(self):
    """Return the hyperbolic cosine."""


@pointwise(
    np.arcsinh, self=lambda g, self: g / sqrt(self * self + 1), aliases="arcsinh", **FLOATING
)
def asinh(self):
    """Return the inverse of the hyperbolic sine."""


@pointwise(
    np.arccosh, self=lambda g, self: g / sqrt(self * self - 1), aliases="arccosh", **FLOATING
)
def acosh(self):
    """Return the inverse of the hyperbolic cosine; NaN below 1."""


@pointwise(np.arctanh, self=lambda g, self: g / (1 - self * self), aliases="arctanh", **FLOATING)
def atanh(self):
    """Return the inverse of the hyperbolic tangent; NaN outside [-1, 1]."""


@pointwise(
    np.arctan2,
    self=lambda g, self, other: _over_square(g, other, self, other),
    other=lambda g, self, other: _over_square(-g, self, self, other),
    scalars="",
    aliases="arctan2",
    **FLOATING,
)
def atan2(self, other):
    """Return the angle between the positive x axis and the direction to the point (x, y)."""


def _over_square(g: Any, side: Any, x: Any, y: Any) -> Any:
    """Return ``g * side`` over the squared distance of (y, x) from the origin, and 0 there."""
    square = x * x + y * y
    if square.all():
        return g * (side / square)
    return g * side * where(square == 0, 0, 1 / square)


@pointwise(
    floats="hypot_cpu",
    self=lambda g, self, result: g * (self / result),
    other=lambda g, other, result: g * (other / result),
    scalars="",
    **EVERY_FORM,
)
def hypot(self, other):
    """Return the length of the hypotenuse, ``sqrt(self**2 + other**2)``."""
    return np.hypot(self, other)


@pointwise(linear=True, node="Deg2RadBackward0", self=lambda g: g * (math.pi / 180), **FLOATING)
def deg2rad(self):
    """Convert degrees to radians."""
    return self * (math.pi / 180)


@pointwise(linear=True, node="Rad2DegBackward0", self=lambda g: g * (180 / math.pi), **FLOATING)
def rad2deg(self):
    """Convert radians to degrees."""
    return self * (180 / math.pi)


@pointwise(
    self=lambda g, self, result: where(self == 0, 0, g * ((cos(self * math.pi) - result) / self)),
    aliases="special.sinc",
    **FLOATING,
)
def sinc(self):
    """Return ``sin(pi self) / (pi self)``, and 1 at 0."""
    return np.sinc(self).astype(self.dtype)


@pointwise(result_dtype="float", self=lambda g: zeros_of(g), variants="function method")
def angle(self):
    """Return the argument of a real number: 0, or pi where it is negative."""
    return np.where(np.isnan(self), self, np.where(self < 0, math.pi, 0)).astype(self.dtype)
