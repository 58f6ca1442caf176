"""Error, gamma and Bessel functions, computed by SciPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import FLOATING, pointwise
from autograd_core.ops.pointwise.elementwise import exp, where


def _scipy(name: str, *arguments: Any) -> Any:
    """Return a function of SciPy's, which is imported now, in the dtype of the last argument."""
    from scipy import special  # takes as long to import as our core

    with np.errstate(all="ignore"):
        return np.asarray(getattr(special, name)(*arguments)).astype(arguments[-1].dtype)


@pointwise(
    self=lambda g, self: g * (exp(-self * self) * (2 / math.pi**0.5)),
    aliases="special.erf",
    **FLOATING,
)
def erf(self):
    """Return the error function."""
    return _scipy("erf", self)


@pointwise(
    self=lambda g, self: -g * (exp(-self * self) * (2 / math.pi**0.5)),
    aliases="special.erfc",
    **FLOATING,
)
def erfc(self):
    """Return ``1 - erf(self)``, accurate for large ``self``."""
    return _scipy("erfc", self)


@pointwise(
    self=lambda g, result: g * (exp(result * result) * (math.pi**0.5 / 2)),
    aliases="special.erfinv",
    **FLOATING,
)
def erfinv(self):
    """Return the inverse of the error function; NaN outside [-1, 1]."""
    return _scipy("erfinv", self)


@pointwise(self=lambda g, self: g * digamma(self), aliases="special.gammaln", **FLOATING)
def lgamma(self):
    """Return the logarithm of the absolute value of the gamma function."""
    return _scipy("gammaln", np.where(np.isneginf(self), np.inf, self))


@pointwise(
    self=lambda g, self: g * polygamma(self, n=1), aliases="special.digamma special.psi", **FLOATING
)
def digamma(self):
    """Return the derivative of :func:`lgamma`."""
    return _scipy("digamma", self)


@pointwise(result_dtype="float", self=lambda g, self, n: g * polygamma(self, n=n + 1))
def polygamma(self, *, n):
    """Return the ``n``-th derivative of :func:`digamma`."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return _scipy("polygamma", n, self)


@pointwise(
    result_dtype="float", self=lambda g, self, p: g * sum(digamma(self - i / 2) for i in range(p))
)
def mvlgamma(self, *, p):
    """Return the logarithm of the gamma function of ``p`` variables, for ``self > (p - 1) / 2``."""
    terms = sum(_scipy("gammaln", self - i / 2) for i in range(p))
    return terms + p * (p - 1) / 4 * math.log(math.pi)


@pointwise(self=lambda g, self: g * i1(self), aliases="special.i0", **FLOATING)
def i0(self):
    """Return the modified Bessel function of order 0."""
    return _scipy("i0", self)


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
    return _scipy("i1", self)
