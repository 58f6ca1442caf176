"""The functions of ``torch.special`` that have no name at the top: by SciPy, elementwise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.dtype import Number
from autograd_core.op import Sample, pointwise, public
from autograd_core.ops.elementwise import exp, log, neg, sign, where
from autograd_core.ops.exponential import log1p
from autograd_core.ops.special_functions import erf
from autograd_core.ops.special_functions import polygamma as _polygamma
from autograd_core.tensor import Tensor

_ONE = (Sample(([-1.5, 0.3, 2.0],)), Sample(([[0.5], [1.25]],)))
_FRACTION = (Sample(([0.1, 0.5, 0.85],)),)
_ROOT = math.sqrt(2 * math.pi)


def _scipy(name: str, *arrays: Any) -> Any:
    """SciPy's function of that name, in the dtype of its first argument."""
    from scipy import special

    result = getattr(special, name)(*arrays)
    return result.astype(np.result_type(*arrays), copy=False)


@pointwise(
    result="float",
    node="SpecialEntrBackward0",
    x=lambda g, x: g * (-log(x) - 1),
    samples=(Sample(([0.5, 1.0, 2.5],)),),
    aliases="special.entr",
)
def entr(x):
    """``-x * log(x)``; 0 at 0, -inf below."""
    return _scipy("entr", x)


@pointwise(
    result="float",
    node="SpecialErfcxBackward0",
    x=lambda g, x, ans: g * (2 * x * ans - 2 / math.sqrt(math.pi)),
    samples=_ONE,
    aliases="special.erfcx",
)
def erfcx(x):
    """``exp(x ** 2) * erfc(x)``."""
    return _scipy("erfcx", x)


@pointwise(
    result="float",
    node="SpecialI0EBackward0",
    x=lambda g, x, ans: g * (i1e(x) - sign(x) * ans),
    samples=_ONE,
    aliases="special.i0e",
)
def i0e(x):
    """The modified Bessel function of order 0, times ``exp(-abs(x))``."""
    return _scipy("i0e", x)


@pointwise(
    result="float",
    node="SpecialI1EBackward0",
    x=lambda g, x, ans: g * bessel_slope(x, i0e(x), ans),
    samples=_ONE,
    aliases="special.i1e",
)
def i1e(x):
    """The modified Bessel function of order 1, times ``exp(-abs(x))``."""
    return _scipy("i1e", x)


def bessel_slope(x: Any, zeroth: Any, first: Any) -> Any:
    """The derivative of :func:`i1e`, which is 1/2 at 0."""
    at_zero = x == 0
    inside = where(at_zero, 1, x)
    return where(at_zero, 0.5, zeroth - first * (sign(x) + 1 / inside))


@pointwise(
    result="float",
    node="SpecialLogNdtrBackward0",
    x=lambda g, x, ans: g * (exp(neg(ans) - x * x / 2) / _ROOT),
    samples=_ONE,
    aliases="special.log_ndtr",
)
def log_ndtr(x):
    """The logarithm of the normal distribution's area below ``x``."""
    return _scipy("log_ndtr", x)


@pointwise(
    result="float",
    node="SpecialNdtriBackward0",
    x=lambda g, ans: g * (exp(ans * ans / 2) * _ROOT),
    samples=_FRACTION,
    aliases="special.ndtri",
)
def ndtri(x):
    """Where the normal distribution's area below is ``x``."""
    return _scipy("ndtri", x)


@pointwise(
    result="float",
    of="xlog1py",
    node="SpecialXlog1PyBackward0",
    x=lambda g, y: g * log1p(y),
    y=lambda g, x, y: g * x / (y + 1),
    samples=(Sample(([0.5, 2.0], [1.5, 0.25])), Sample(([[0.5], [2.0]], [1.5, 0.25]))),
)
def xlog1py_tensor(x, y):
    """``x * log1p(y)``; 0 where ``x`` is 0."""
    return _scipy("xlog1py", x, y)


@pointwise(
    result="float",
    of="xlog1py",
    node="SpecialXlog1PyBackward1",
    y=lambda g, y, number: g * number / (y + 1),
    samples=(Sample(([1.5, 0.25],), {"number": 2}),),
)
def xlog1py_of_number(y, *, number):
    """``number * log1p(y)``."""
    return _scipy("xlog1py", np.asarray(number, y.dtype), y)


@pointwise(
    result="float",
    of="xlog1py",
    node="SpecialXlog1PyBackward2",
    x=lambda g, number: g * math.log1p(number),
    samples=(Sample(([1.5, 0.25],), {"number": 2}),),
)
def xlog1py_number(x, *, number):
    """``x * log1p(number)``."""
    return _scipy("xlog1py", x, np.asarray(number, x.dtype))


@public(name="special.ndtr")
def ndtr(input: Tensor) -> Tensor:
    """The area below ``input`` of the normal distribution, by way of :func:`erf`."""
    return (erf(input * math.sqrt(0.5)) + 1) * 0.5


@public(name="special.polygamma")
def polygamma(n: int, input: Tensor) -> Tensor:
    """The ``n``-th derivative of digamma."""
    return _polygamma(input, n=n)


@public(name="special.xlog1py")
def xlog1py(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """``input * log1p(other)``; 0 where ``input`` is 0."""
    if not isinstance(input, Tensor):
        return xlog1py_of_number(other, number=input)
    if not isinstance(other, Tensor):
        return xlog1py_number(input, number=other)
    return xlog1py_tensor(input, other)
