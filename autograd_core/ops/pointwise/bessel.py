"""The functions of ``torch.special`` that have no name at the top: by SciPy, elementwise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.dtype import Number
from autograd_core.op import pointwise, public
from autograd_core.ops.pointwise.elementwise import exp, log, neg, sign, where
from autograd_core.ops.pointwise.exponential import log1p
from autograd_core.ops.pointwise.special_functions import erf
from autograd_core.ops.pointwise.special_functions import polygamma as _polygamma
from autograd_core.tensor import Tensor

_ROOT = math.sqrt(2 * math.pi)


def _scipy(name: str, *arrays: Any) -> Any:
    """SciPy's function of that name, in the dtype of its first argument."""
    from scipy import special  # takes as long to import as our core

    result = getattr(special, name)(*arrays)
    return result.astype(np.result_type(*arrays), copy=False)


@pointwise(
    result_dtype="float",
    node="SpecialEntrBackward0",
    self=lambda g, self: g * (-log(self) - 1),
    aliases="special.entr",
)
def entr(self):
    """Return ``-self * log(self)``; 0 at 0, -inf below."""
    return _scipy("entr", self)


@pointwise(
    result_dtype="float",
    node="SpecialErfcxBackward0",
    self=lambda g, self, result: g * (2 * self * result - 2 / math.sqrt(math.pi)),
    aliases="special.erfcx",
)
def erfcx(self):
    """Return ``exp(self ** 2) * erfc(self)``."""
    return _scipy("erfcx", self)


@pointwise(
    result_dtype="float",
    node="SpecialI0EBackward0",
    self=lambda g, self, result: g * (i1e(self) - sign(self) * result),
    aliases="special.i0e",
)
def i0e(self):
    """Return the modified Bessel function of order 0, times ``exp(-abs(self))``."""
    return _scipy("i0e", self)


@pointwise(
    result_dtype="float",
    node="SpecialI1EBackward0",
    self=lambda g, self, result: g * bessel_slope(self, i0e(self), result),
    aliases="special.i1e",
)
def i1e(self):
    """Return the modified Bessel function of order 1, times ``exp(-abs(self))``."""
    return _scipy("i1e", self)


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
    return _scipy("log_ndtr", self)


@pointwise(
    result_dtype="float",
    node="SpecialNdtriBackward0",
    self=lambda g, result: g * (exp(result * result / 2) * _ROOT),
    aliases="special.ndtri",
)
def ndtri(self):
    """Return the inverse of the normal cumulative distribution function."""
    return _scipy("ndtri", self)


@pointwise(
    result_dtype="float",
    of="xlog1py",
    node="SpecialXlog1PyBackward0",
    self=lambda g, other: g * log1p(other),
    other=lambda g, self, other: g * self / (other + 1),
)
def xlog1py_tensor(self, other):
    """Return ``self * log1p(other)``; 0 where ``self`` is 0."""
    return _scipy("xlog1py", self, other)


@pointwise(
    result_dtype="float",
    of="xlog1py",
    node="SpecialXlog1PyBackward1",
    other=lambda g, other, self: g * self / (other + 1),
)
def xlog1py_of_number(other, *, self):
    """Return ``self * log1p(other)``."""
    return _scipy("xlog1py", np.asarray(self, other.dtype), other)


@pointwise(
    result_dtype="float",
    of="xlog1py",
    node="SpecialXlog1PyBackward2",
    self=lambda g, other: g * math.log1p(other),
)
def xlog1py_number(self, *, other):
    """Return ``self * log1p(other)``."""
    return _scipy("xlog1py", self, np.asarray(other, self.dtype))


@public(name="special.ndtr", out="cast")
def ndtr(self: Tensor) -> Tensor:
    """Return the area below ``self`` of the normal distribution, by way of :func:`erf`."""
    return (erf(self * math.sqrt(0.5)) + 1) * 0.5


@public(name="special.polygamma", out="cast")
def polygamma(n: int, self: Tensor) -> Tensor:
    """Return the ``n``-th derivative of digamma."""
    return _polygamma(self, n=n)


@public(name="special.xlog1py", out="cast")
def xlog1py(self: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Return ``self * log1p(other)``; 0 where ``self`` is 0."""
    if not isinstance(self, Tensor):
        return xlog1py_of_number(other, self=self)
    if not isinstance(other, Tensor):
        return xlog1py_number(self, other=other)
    return xlog1py_tensor(self, other)
