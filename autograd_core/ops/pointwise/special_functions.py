"""Error, gamma and Bessel functions, computed by SciPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.dtype import Number
from autograd_core.op import FLOATING, pointwise, public
from autograd_core.ops.pointwise.elementwise import exp, log, neg, sign, where
from autograd_core.ops.pointwise.exponential import log1p
from autograd_core.ops.scipy_functions import special
from autograd_core.tensor import Tensor


@pointwise(
    self=lambda g, self: g * (exp(-self * self) * (2 / math.pi**0.5)),
    aliases="special.erf",
    **FLOATING,
)
def erf(self):
    """Return the error function."""
    return special("erf", self)


@pointwise(
    self=lambda g, self: -g * (exp(-self * self) * (2 / math.pi**0.5)),
    aliases="special.erfc",
    **FLOATING,
)
def erfc(self):
    """Return ``1 - erf(self)``, accurate for large ``self``."""
    return special("erfc", self)


@pointwise(
    self=lambda g, result: g * (exp(result * result) * (math.pi**0.5 / 2)),
    aliases="special.erfinv",
    **FLOATING,
)
def erfinv(self):
    """Return the inverse of the error function; NaN outside [-1, 1]."""
    return special("erfinv", self)


@pointwise(self=lambda g, self: g * digamma(self), aliases="special.gammaln", **FLOATING)
def lgamma(self):
    """Return the logarithm of the absolute value of the gamma function."""
    return special("gammaln", np.where(np.isneginf(self), np.inf, self))


@pointwise(
    self=lambda g, self: g * polygamma(self, n=1), aliases="special.digamma special.psi", **FLOATING
)
def digamma(self):
    """Return the derivative of :func:`lgamma`."""
    return special("digamma", self)


@pointwise(result_dtype="float", self=lambda g, self, n: g * polygamma(self, n=n + 1))
def polygamma(self, *, n):
    """Return the ``n``-th derivative of :func:`digamma`."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return special("polygamma", n, self)


@pointwise(
    bools=lambda _: RuntimeError("The input tensor may not be a boolean tensor."),
    self=lambda g, self, p: g * sum(digamma(self - i / 2) for i in range(p)),
    aliases="special.multigammaln",
    **FLOATING,
)
def mvlgamma(self, /, p: int):
    """Return the logarithm of the gamma function of ``p`` variables, for ``self > (p - 1) / 2``."""
    terms = sum(special("gammaln", self - i / 2) for i in range(p))
    return terms + p * (p - 1) / 4 * math.log(math.pi)


@pointwise(self=lambda g, self: g * i1(self), aliases="special.i0", **FLOATING)
def i0(self):
    """Return the modified Bessel function of order 0."""
    return special("i0", self)


@pointwise(
    result_dtype="float",
    self=lambda g, self, result: (
        g * where(self == 0, 0.5, i0(self) - result / where(self == 0, 1, self))
    ),
    of="special_i1",
    node="SpecialI1Backward0",
    aliases="special.i1",
)
def i1(self):
    """Modified Bessel function of order 1."""
    return special("i1", self)


_ROOT = math.sqrt(2 * math.pi)


@pointwise(
    result_dtype="float",
    node="SpecialEntrBackward0",
    self=lambda g, self: g * (-log(self) - 1),
    aliases="special.entr",
)
def entr(self):
    """Return ``-self * log(self)``; 0 at 0, -inf below."""
    return special("entr", self)


@pointwise(
    result_dtype="float",
    node="SpecialErfcxBackward0",
    self=lambda g, self, result: g * (2 * self * result - 2 / math.sqrt(math.pi)),
    aliases="special.erfcx",
)
def erfcx(self):
    """Return ``exp(self ** 2) * erfc(self)``."""
    return special("erfcx", self)


@pointwise(
    result_dtype="float",
    node="SpecialI0EBackward0",
    self=lambda g, self, result: g * (i1e(self) - sign(self) * result),
    aliases="special.i0e",
)
def i0e(self):
    """Return the modified Bessel function of order 0, times ``exp(-abs(self))``."""
    return special("i0e", self)


@pointwise(
    result_dtype="float",
    node="SpecialI1EBackward0",
    self=lambda g, self, result: g * bessel_slope(self, i0e(self), result),
    aliases="special.i1e",
)
def i1e(self):
    """Return the modified Bessel function of order 1, times ``exp(-abs(self))``."""
    return special("i1e", self)


def bessel_slope(x: Any, zeroth: Any, first: Any) -> Any:
    """Return the derivative of :func:`i1e`, which is 1/2 at 0."""
    at_zero = x == 0
    inside = where(at_zero, 1, x)
    return where(at_zero, 0.5, zeroth - first * (sign(x) + 1 / inside))


@pointwise(
    result_dtype="float",
    node="SpecialLogNdtrBackward0",
    self=lambda g, self, result: g * (exp(neg(result) - self * self / 2) / _ROOT),
    aliases="special.log_ndtr",
)
def log_ndtr(self):
    """Return the logarithm of the normal cumulative distribution function."""
    return special("log_ndtr", self)


@pointwise(
    result_dtype="float",
    node="SpecialNdtriBackward0",
    self=lambda g, result: g * (exp(result * result / 2) * _ROOT),
    aliases="special.ndtri",
)
def ndtri(self):
    """Return the inverse of the normal cumulative distribution function."""
    return special("ndtri", self)


@pointwise(
    result_dtype="float",
    of="xlog1py",
    node="SpecialXlog1PyBackward0",
    self=lambda g, other: g * log1p(other),
    other=lambda g, self, other: g * self / (other + 1),
)
def xlog1py_tensor(self, other):
    """Return ``self * log1p(other)``; 0 where ``self`` is 0."""
    return special("xlog1py", self, other)


@pointwise(
    result_dtype="float",
    of="xlog1py",
    node="SpecialXlog1PyBackward1",
    other=lambda g, other, self: g * self / (other + 1),
)
def xlog1py_of_number(other, *, self):
    """Return ``self * log1p(other)``."""
    return special("xlog1py", np.asarray(self, other.dtype), other)


@pointwise(
    result_dtype="float",
    of="xlog1py",
    node="SpecialXlog1PyBackward2",
    self=lambda g, other: g * math.log1p(other),
)
def xlog1py_number(self, *, other):
    """Return ``self * log1p(other)``."""
    return special("xlog1py", self, np.asarray(other, self.dtype))


@public(name="special.ndtr", out="cast")
def ndtr(self: Tensor) -> Tensor:
    """Return the area below ``self`` of the normal distribution, by way of :func:`erf`."""
    return (erf(self * math.sqrt(0.5)) + 1) * 0.5


@public(name="special.xlog1py", out="cast")
def xlog1py(self: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Return ``self * log1p(other)``; 0 where ``self`` is 0."""
    if not isinstance(self, Tensor):
        return xlog1py_of_number(other, self=self)
    if not isinstance(other, Tensor):
        return xlog1py_number(self, other=other)
    return xlog1py_tensor(self, other)
