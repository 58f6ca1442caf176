"""Rounding, remainders and signs."""

from __future__ import annotations

import numpy as np

from autograd_core.op import Sample, op, pointwise
from autograd_core.ops.checks import check_not_bool
from autograd_core.ops.elementwise import sign, where, zeros_of
from autograd_core.ops.exponential import ldexp
from autograd_core.ops.logic import isfinite

FRACTIONS = (Sample(([0.3, -1.6, 2.2],)),)
_PAIR = (Sample(([1.5, -2.25, 7.0], [0.5, 0.75, -2.0])), Sample(([[1.5], [-7.25]], [2.0, 0.75])))
_ODD_PAIR = (Sample(([1.6, -2.3, 7.0], [0.7, 0.9, -3.0])), Sample(([[1.6], [-7.3]], [2.0, 0.9])))


@pointwise(
    np.floor,
    numbers="floor_vml_cpu",
    x=lambda g: zeros_of(g),
    samples=FRACTIONS,
    variants="function method inplace",
)
def floor(x):
    """The largest whole number that is not above ``x``."""


@pointwise(
    np.ceil,
    numbers="ceil_vml_cpu",
    x=lambda g: zeros_of(g),
    samples=FRACTIONS,
    variants="function method inplace",
)
def ceil(x):
    """The smallest whole number that is not below ``x``."""


@pointwise(
    np.trunc,
    numbers="trunc_vml_cpu",
    x=lambda g: zeros_of(g),
    samples=FRACTIONS,
    variants="function method inplace",
    aliases="fix",
)
def trunc(x):
    """``x`` without what is after the point."""


@pointwise(
    numbers="round_vml_cpu",
    of="round",
    node="RoundBackward0",
    x=lambda g: zeros_of(g),
    samples=FRACTIONS,
)
def round_(x):
    """The nearest whole number, the even one of two."""
    return np.rint(x) if x.dtype.kind == "f" else np.array(x)


@pointwise(
    floats="round_cpu",
    of="round",
    node="RoundBackward1",
    x=lambda g: zeros_of(g),
    samples=(Sample(([0.333, -1.666],), {"decimals": 2}),),
)
def round_decimals(x, *, decimals):
    """``x`` with ``decimals`` digits after the point."""
    return np.round(x, decimals)


@pointwise(floats="frac_cpu", x=lambda g: g, samples=FRACTIONS, variants="function method inplace")
def frac(x):
    """What is after the point."""
    return x - np.trunc(x)


@pointwise(
    np.fmod,
    node="FmodBackward1",
    x=lambda g: g,
    y=lambda g, x, y: -g * trunc(x / y),
    samples=_ODD_PAIR,
)
def fmod(x, y):
    """What is left of ``x`` after division by ``y``, with the sign of ``x``."""


@pointwise(
    of="fmod",
    node="FmodBackward0",
    x=lambda g: g,
    samples=(Sample(([1.6, -2.3],), {"number": 0.7}),),
)
def fmod_number(x, *, number):
    """What is left of ``x`` after division by a number, with the sign of ``x``."""
    return np.fmod(x, number)


@pointwise(
    np.remainder,
    node="RemainderBackward1",
    x=lambda g: g,
    y=lambda g, x, y: -g * floor(x / y),
    samples=_ODD_PAIR,
)
def remainder(x, y):
    """What is left of ``x`` after division by ``y``, with the sign of ``y``."""


@pointwise(
    of="remainder",
    node="RemainderBackward0",
    x=lambda g: g,
    samples=(Sample(([1.6, -2.3],), {"number": 0.7}),),
)
def remainder_number(x, *, number):
    """What is left of ``x`` after division by a number, with the sign of that."""
    return np.remainder(x, number)


@pointwise(
    of="div",
    node="DivBackward2",
    x=lambda g: zeros_of(g),
    y=lambda g: zeros_of(g),
    samples=(
        Sample(([1.6, -2.3, 7.0], [0.7, 0.9, -3.0]), {"rounding_mode": "floor"}),
        Sample(([[1.6], [-7.3]], [2.0, 0.9]), {"rounding_mode": "trunc"}),
    ),
)
def div_rounded(x, y, *, rounding_mode):
    """The quotient rounded down ("floor") or towards 0 ("trunc"); integers stay integers."""
    if x.dtype.kind in "iu" and not np.all(y):
        raise RuntimeError("ZeroDivisionError")
    check_not_bool(f"div_{rounding_mode}_cpu", x)
    if rounding_mode == "floor":
        return np.floor_divide(x, y)
    if rounding_mode != "trunc":
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
            f"but found '{rounding_mode}'"
        )
    if x.dtype.kind == "f":
        return np.trunc(np.true_divide(x, y))
    whole = np.floor_divide(x, y)
    return whole + ((whole < 0) & (whole * y != x))


@pointwise(
    np.copysign,
    result="float",
    x=lambda g, x, ans: g * (sign(x) * sign(ans)),
    y=lambda g: zeros_of(g),
    samples=_PAIR,
)
def copysign(x, y):
    """The size of ``x`` with the sign of ``y``."""


@pointwise(
    of="copysign",
    node="CopysignBackward1",
    result="float",
    x=lambda g, x, ans: g * (sign(x) * sign(ans)),
    samples=(Sample(([1.6, -2.3],), {"number": -1.0}),),
)
def copysign_number(x, *, number):
    """The size of ``x`` with the sign of a number."""
    return np.copysign(x, np.asarray(number, x.dtype))


@pointwise(
    x=lambda g, x: where(isfinite(x), g, 0),
    samples=(Sample(([1.5, -2.0],)), Sample(([1.5, -2.0],), {"nan": 1.0})),
)
def nan_to_num(x, *, nan=None, posinf=None, neginf=None):
    """``x`` with numbers for NaN (0), inf and -inf (the largest and smallest there are)."""
    return np.nan_to_num(x, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


@op(
    x=lambda g, exponent: ldexp(g, -exponent),
    outputs="mantissa exponent",
    nondiff="exponent",
    samples=(Sample(([1.5, -7.3],)),),
)
def frexp(x, /):
    """``x`` as ``mantissa * 2**exponent``, the mantissa from 0.5 to 1."""
    mantissa, exponent = np.frexp(x)
    return mantissa, np.asarray(exponent, np.int32)


@pointwise(
    floats="nextafter_cpu",
    node="NextafterBackward0",
    x=lambda g, x, y: where(x == y, 0, g),
    y=lambda g: zeros_of(g),
    samples=_PAIR,
    variants="function method inplace",
)
def nextafter(x, y):
    """The next number after ``x`` that there is, towards ``y``."""
    return np.nextafter(x, y)


@pointwise(variants="function method inplace")
def heaviside(x, y):
    """0 below 0, 1 above, and ``y`` at 0."""
    return np.where(x == 0, y, x > 0).astype(x.dtype, copy=False)
