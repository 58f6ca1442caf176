"""Error, gamma and Bessel functions, computed by SciPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import Sample, pointwise
from autograd_core.ops.elementwise import ONE, POSITIVE, exp, where


def _scipy(name: str, *arguments: Any) -> Any:
    """A function of SciPy's, which is imported now, in the dtype of the last argument."""
    from scipy import special

    with np.errstate(all="ignore"):
        return np.asarray(getattr(special, name)(*arguments)).astype(arguments[-1].dtype)


@pointwise(
    result="float",
    x=lambda g, x: g * (exp(-x * x) * (2 / math.pi**0.5)),
    samples=ONE,
    variants="function method inplace",
    aliases="special.erf",
)
def erf(x):
    """Error function."""
    return _scipy("erf", x)


@pointwise(
    result="float",
    x=lambda g, x: -g * (exp(-x * x) * (2 / math.pi**0.5)),
    samples=ONE,
    variants="function method inplace",
    aliases="special.erfc",
)
def erfc(x):
    """``1 - erf(x)``, exact also for large ``x``."""
    return _scipy("erfc", x)


@pointwise(
    result="float",
    x=lambda g, ans: g * (exp(ans * ans) * (math.pi**0.5 / 2)),
    samples=(Sample(([-0.5, 0.25, 0.75],)),),
    variants="function method inplace",
    aliases="special.erfinv",
)
def erfinv(x):
    """Inverse of the error function; NaN beyond -1 and 1."""
    return _scipy("erfinv", x)


@pointwise(
    result="float",
    x=lambda g, x: g * digamma(x),
    samples=POSITIVE,
    variants="function method inplace",
    aliases="special.gammaln",
)
def lgamma(x):
    """Logarithm of the size of the gamma function."""
    return _scipy("gammaln", x)


@pointwise(
    result="float",
    x=lambda g, x: g * polygamma(x, n=1),
    samples=POSITIVE,
    variants="function method inplace",
    aliases="special.digamma special.psi",
)
def digamma(x):
    """Derivative of :func:`lgamma`."""
    return _scipy("digamma", x)


@pointwise(
    result="float",
    x=lambda g, x, n: g * polygamma(x, n=n + 1),
    samples=(Sample(([0.5, 1.0, 2.5],), {"n": 1}), Sample(([3.0],), {"n": 0})),
)
def polygamma(x, *, n):
    """The ``n``-th derivative of :func:`digamma`."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return _scipy("polygamma", n, x)


@pointwise(
    result="float",
    x=lambda g, x, p: g * sum(digamma(x - i / 2) for i in range(p)),
    samples=(Sample(([2.5, 3.0],), {"p": 3}),),
)
def mvlgamma(x, *, p):
    """Logarithm of the gamma function of ``p`` variables, for ``x > (p - 1) / 2``."""
    terms = sum(_scipy("gammaln", x - i / 2) for i in range(p))
    return terms + p * (p - 1) / 4 * math.log(math.pi)


@pointwise(
    result="float",
    x=lambda g, x: g * i1(x),
    samples=ONE,
    variants="function method inplace",
    aliases="special.i0",
)
def i0(x):
    """Modified Bessel function of order 0."""
    return _scipy("i0", x)


@pointwise(
    result="float",
    x=lambda g, x, ans: g * where(x == 0, 0.5, i0(x) - ans / where(x == 0, 1, x)),
    of="special_i1",
    node="SpecialI1Backward0",
    samples=POSITIVE,
    aliases="special.i1",
)
def i1(x):
    """Modified Bessel function of order 1."""
    return _scipy("i1", x)
