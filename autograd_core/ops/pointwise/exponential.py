"""Powers, exponentials and logarithms."""

from __future__ import annotations

import math

import numpy as np

from autograd_core.op import FLOATING, pointwise
from autograd_core.ops.pointwise.elementwise import exp, log, natural_log, where, within
from autograd_core.ops.pointwise.logic import logical_and

_LN2, _LN10 = math.log(2), math.log(10)


@pointwise(np.exp2, self=lambda g, result: g * (result * _LN2), aliases="special.exp2", **FLOATING)
def exp2(self):
    """Return 2 to the power of ``self``."""


@pointwise(np.expm1, self=lambda g, result: g * (result + 1), aliases="special.expm1", **FLOATING)
def expm1(self):
    """Return ``exp(self) - 1``, accurate for small ``self``."""


@pointwise(
    np.log1p,
    node="Log1PBackward0",
    self=lambda g, self: g / (self + 1),
    aliases="special.log1p",
    **FLOATING,
)
def log1p(self):
    """Return ``log(1 + self)``, accurate for small ``self``."""


@pointwise(np.log2, self=lambda g, self: g / (self * _LN2), **FLOATING)
def log2(self):
    """Return the logarithm to base 2."""


@pointwise(np.log10, self=lambda g, self: g / (self * _LN10), **FLOATING)
def log10(self):
    """Return the logarithm to base 10."""


@pointwise(self=lambda g, result: g * (result * result * result) / -2, **FLOATING)
def rsqrt(self):
    """Return ``1 / sqrt(self)``: infinite at 0, NaN for negative numbers."""
    return np.reciprocal(np.sqrt(self))


@pointwise(
    floats="logaddexp_cpu",
    self=lambda g, self, other: g / (1 + exp(other - self)),
    other=lambda g, self, other: g / (1 + exp(self - other)),
    scalars="",
    variants="function method",
)
def logaddexp(self, other):
    """Return ``log(exp(self) + exp(other))`` without overflow."""
    return np.logaddexp(self, other)


@pointwise(
    floats="logaddexp2_cpu",
    self=lambda g, self, other: g / (1 + exp2(other - self)),
    other=lambda g, self, other: g / (1 + exp2(self - other)),
    scalars="",
    variants="function method",
)
def logaddexp2(self, other):
    """Return ``log2(2**self + 2**other)`` without overflow."""
    return np.logaddexp2(self, other)


def _xlogy(x, y):
    return np.where(np.logical_and(x == 0, ~np.isnan(y)), 0, x * np.log(y)).astype(y.dtype)


@pointwise(
    result_dtype="float",
    self=lambda g, self, other: where(logical_and(self == 0, other <= 0), 0, g * log(other)),
    other=lambda g, self, other: g * self / other,
)
def xlogy(self, other):
    """Return ``self * log(other)``, with 0 where ``self`` is 0, unless ``other`` is NaN."""
    return _xlogy(self, other)


@pointwise(
    of="xlogy",
    node="XlogyBackward2",
    result_dtype="float",
    linear=True,
    self=lambda g, other: g * natural_log(other),
)
def xlogy_number(self, *, other):
    """Return ``self * log(other)``."""
    return _xlogy(self, np.asarray(other, self.dtype))


@pointwise(
    of="xlogy",
    node="XlogyBackward1",
    result_dtype="float",
    other=lambda g, other, self: g * self / other,
)
def xlogy_of_number(other, *, self):
    """Return ``self * log(other)``."""
    return _xlogy(np.asarray(self, other.dtype), other)


@pointwise(
    self=lambda g, self, eps: where(
        _inside(self, eps), g / (self * (1 - self)), math.nan if eps is None else 0
    ),
    aliases="special.logit",
    **FLOATING,
)
def logit(self, /, eps: float | None = None):
    """Return ``log(self / (1 - self))``; with ``eps``, ``self`` is clamped to the range from
    ``eps`` to ``1 - eps``."""
    if eps is not None:
        self = np.clip(self, eps, 1 - eps)
    return np.log(self / (1 - self))


def _inside(x, eps):
    return within(x, min=0, max=1) if eps is None else within(x, min=eps, max=1 - eps)


@pointwise(
    self=lambda g, other: ldexp(g, other),
    other=lambda g, result: g * (result * _LN2),
    scalars="",
    **FLOATING,
)
def ldexp(self, other):
    """Return ``self * 2**other``."""
    return np.multiply(self, np.exp2(other, dtype=self.dtype))
