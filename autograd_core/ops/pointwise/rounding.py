"""Rounding, remainders and signs."""

from __future__ import annotations

import numpy as np

from autograd_core import return_types
from autograd_core.op import EVERY_FORM, op, pointwise
from autograd_core.ops.checks import check_not_bool
from autograd_core.ops.pointwise.elementwise import sign, where, zeros_of
from autograd_core.ops.pointwise.exponential import ldexp
from autograd_core.ops.pointwise.logic import isfinite


@pointwise(np.floor, numbers="floor_vml_cpu", self=lambda g: zeros_of(g), out="same", **EVERY_FORM)
def floor(self):
    """Return the largest integer that is not above ``self``."""


@pointwise(np.ceil, numbers="ceil_vml_cpu", self=lambda g: zeros_of(g), out="same", **EVERY_FORM)
def ceil(self):
    """Return the smallest integer that is not below ``self``."""


@pointwise(
    np.trunc,
    numbers="trunc_vml_cpu",
    self=lambda g: zeros_of(g),
    aliases="fix",
    out="same",
    **EVERY_FORM,
)
def trunc(self):
    """Return ``self`` without its fractional part."""


@pointwise(numbers="round_vml_cpu", of="round", node="RoundBackward0", self=lambda g: zeros_of(g))
def round_(self):
    """Return the nearest integer; ties go to the even one."""
    return np.rint(self) if self.dtype.kind == "f" else np.array(self)


@pointwise(floats="round_cpu", of="round", node="RoundBackward1", self=lambda g: zeros_of(g))
def round_decimals(self, *, decimals):
    """Return ``self`` rounded to ``decimals`` digits."""
    return np.round(self, decimals)


@pointwise(floats="frac_cpu", self=lambda g: g, variants="function method inplace", out="same")
def frac(self):
    """Return the fractional part."""
    return self - np.trunc(self)


@pointwise(
    np.fmod,
    node="FmodBackward1",
    self=lambda g: g,
    other=lambda g, self, other: -g * div_rounded(self, other, rounding_mode="trunc"),
)
def fmod(self, other):
    """Return the remainder of ``self`` divided by ``other``, with the sign of ``self``."""


@pointwise(of="fmod", node="FmodBackward0", self=lambda g: g)
def fmod_number(self, *, other):
    """Return the remainder of ``self`` divided by a number, with the sign of ``self``."""
    return np.fmod(self, other)


@pointwise(
    np.remainder,
    node="RemainderBackward1",
    self=lambda g: g,
    other=lambda g, self, other: -g * div_rounded(self, other, rounding_mode="floor"),
)
def remainder(self, other):
    """Return the remainder of ``self`` divided by ``other``, with the sign of ``other``."""


@pointwise(of="remainder", node="RemainderBackward0", self=lambda g: g)
def remainder_number(self, *, other):
    """Return the remainder of ``self`` divided by a number, with the sign of that number."""
    return np.remainder(self, other)


@pointwise(of="div", node="DivBackward2", self=lambda g: zeros_of(g), other=lambda g: zeros_of(g))
def div_rounded(self, other, *, rounding_mode):
    """Return the quotient rounded down ("floor") or towards 0 ("trunc"); integers stay integers."""
    if self.dtype.kind in "iu" and not np.all(other):
        raise RuntimeError("ZeroDivisionError")
    check_not_bool(f"div_{rounding_mode}_cpu", self)
    if rounding_mode == "floor":
        return np.floor_divide(self, other)
    if rounding_mode != "trunc":
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
            f"but found '{rounding_mode}'"
        )
    if self.dtype.kind == "f":
        return np.trunc(np.true_divide(self, other))
    whole = np.floor_divide(self, other)
    return whole + ((whole < 0) & (whole * other != self))


@pointwise(
    np.copysign,
    result_dtype="float",
    self=lambda g, self, result: g * (sign(self) * sign(result)),
    other=lambda g: zeros_of(g),
)
def copysign(self, other):
    """Return the magnitude of ``self`` with the sign of ``other``."""


@pointwise(
    of="copysign",
    node="CopysignBackward1",
    result_dtype="float",
    self=lambda g, self, result: g * (sign(self) * sign(result)),
)
def copysign_number(self, *, other):
    """Return the magnitude of ``self`` with the sign of a number."""
    return np.copysign(self, np.asarray(other, self.dtype))


@pointwise(self=lambda g, self: where(isfinite(self), g, 0), out="expect", **EVERY_FORM)
def nan_to_num(
    self, /, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
):
    """Return ``self`` with NaN replaced by 0, and inf and -inf by the largest and smallest
    numbers."""
    return np.nan_to_num(self, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


@op(
    self=lambda g, exponent: ldexp(g, -exponent),
    outputs="mantissa exponent",
    nondiff="exponent",
    variants="function method",
    out="expect",
    named=return_types.frexp,
)
def frexp(self, /):
    """Return ``self`` as ``mantissa * 2**exponent``, the mantissa from 0.5 to 1."""
    if self.dtype.kind != "f":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = np.frexp(self)
    return mantissa, np.asarray(exponent, np.int32)


@pointwise(
    floats="nextafter_cpu",
    node="NextafterBackward0",
    self=lambda g, self, other: where(self == other, 0, g),
    other=lambda g: zeros_of(g),
    scalars="",
    **EVERY_FORM,
)
def nextafter(self, other):
    """Return the next floating-point number after ``self`` towards ``other``."""
    return np.nextafter(self, other)


@pointwise(variants="function method inplace", out="expect", scalars="")
def heaviside(self, values):
    """Return 0 below 0, 1 above, and ``values`` at 0."""
    return np.where(self == 0, values, self > 0).astype(self.dtype, copy=False)
