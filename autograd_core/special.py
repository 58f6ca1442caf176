"""Special functions, under the names of ``torch.special``."""

from __future__ import annotations

import math

from autograd_core.dtype import Number
from autograd_core.ops import bessel, special_functions
from autograd_core.ops.bessel import entr, erfcx, i0e, i1e, log_ndtr, ndtri
from autograd_core.ops.special_functions import i1
from autograd_core.tensor import Tensor

__all__ = [
    "entr",
    "erfcx",
    "i0e",
    "i1",
    "i1e",
    "log_ndtr",
    "ndtr",
    "ndtri",
    "polygamma",
    "xlog1py",
]


def ndtr(input: Tensor) -> Tensor:
    """The area below ``input`` of the normal distribution, by way of :func:`erf`."""
    return (special_functions.erf(input * math.sqrt(0.5)) + 1) * 0.5


def polygamma(n: int, input: Tensor) -> Tensor:
    """The ``n``-th derivative of digamma."""
    return special_functions.polygamma(input, n=n)


def xlog1py(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """``input * log1p(other)``; 0 where ``input`` is 0."""
    if not isinstance(input, Tensor):
        return bessel.xlog1py_of_number(other, number=input)
    if not isinstance(other, Tensor):
        return bessel.xlog1py_number(input, number=other)
    return bessel.xlog1py(input, other)
