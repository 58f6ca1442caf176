"""Special functions, under the names of ``torch.special``."""

from __future__ import annotations

import math

from autograd_core.dtype import Number
from autograd_core.fallback import answer_missing_names
from autograd_core.functions import (
    digamma,
    erf,
    erfc,
    erfinv,
    exp2,
    expm1,
    i0,
    lgamma,
    log1p,
    log_softmax,
    logit,
    logsumexp,
    mvlgamma,
    round,
    sigmoid,
    sinc,
    softmax,
    xlogy,
)
from autograd_core.functions.keywords import take_form
from autograd_core.ops import bessel, special_functions
from autograd_core.ops.bessel import entr, erfcx, i0e, i1e, log_ndtr, ndtri
from autograd_core.ops.special_functions import i1
from autograd_core.tensor import Tensor

__all__ = [
    "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammaln", "i0",
    "i0e", "i1", "i1e", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln",
    "ndtr", "ndtri", "polygamma", "psi", "round", "sinc", "softmax", "xlog1py", "xlogy",
]  # fmt: skip

# also in the main namespace, some under other names
expit, gammaln, multigammaln, psi = sigmoid, lgamma, mvlgamma, digamma


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


take_form(
    globals(),
    ["entr", "erfcx", "i0e", "i1", "i1e", "log_ndtr", "ndtr", "ndtri", "polygamma", "xlog1py"],
)

answer_missing_names(__name__)
