"""Elementwise arithmetic and functions, broadcasting as NumPy does."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_core.op import COMPARISON, EVERY_FORM, FLOATING, Second, computed_by, pointwise
from autograd_core.op.blocks import BLOCK, LARGE, in_passes, memory, numbers
from autograd_core.op.refusals import no_difference


@pointwise(np.add, linear=True, self=lambda g: g, other=lambda g: g)
def add(self, other):
    """Return ``self + other``."""


@pointwise(
    linear=True, of="add", node="AddBackward0", self=lambda g: g, other=lambda g, alpha: g * alpha
)
def add_scaled(self, other, *, alpha):
    """Return ``self + alpha * other``."""
    return np.add(self, other * other.dtype.type(alpha))


@pointwise(np.subtract, linear=True, bools=no_difference, self=lambda g: g, other=lambda g: -g)
def sub(self, other):
    """Return ``self - other``."""


@pointwise(
    linear=True,
    of="sub",
    node="SubBackward0",
    bools=no_difference,
    self=lambda g: g,
    other=lambda g, alpha: -g * alpha,
)
def sub_scaled(self, other, *, alpha):
    """Return ``self - alpha * other``."""
    return np.subtract(self, other * other.dtype.type(alpha))


@pointwise(linear=True, node="RsubBackward1", bools=no_difference, self=lambda g: -g)
def rsub(self, *, other):
    """Return ``other - self``."""
    return np.subtract(np.array(other).astype(self.dtype), self)


@pointwise(
    np.multiply,
    self=lambda g, other: g * other,
    other=lambda g, self: g * self,
    aliases="multiply",
    **EVERY_FORM,
)
def mul(self, other):
    """Return the elementwise product."""


@pointwise(
    np.true_divide,
    result_dtype="float",
    self=lambda g, other: g / other,
    other=lambda g, self, other: -g * ((self / other) / other),
)
def div(self, other):
    """Return the elementwise quotient, which is floating point even for integers."""


@pointwise(
    of="mul", node="MulBackward1", result_dtype="same", linear=True, self=lambda g, other: g * other
)
def mul_number(self, *, other):
    """Return ``self`` times a number, as PyTorch multiplies within its own functions."""
    return np.multiply(self, other)


@pointwise(
    of="div",
    node="DivBackward1",
    result_dtype="float",
    linear=True,
    self=lambda g, other: g / other,
)
def div_number(self, *, other):
    """Return ``self`` divided by a number, as PyTorch divides within its own functions."""
    return np.true_divide(self, other)


@pointwise(np.reciprocal, self=lambda g, result: -g * (result * result), **FLOATING)
def reciprocal(self):
    """Return ``1 / self``."""


@pointwise(
    np.negative,
    linear=True,
    bools="Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
    "invert a mask, use the `~` or `logical_not()` operator instead.",
    self=lambda g: -g,
    aliases="negative",
    out="same",
    **EVERY_FORM,
)
def neg(self):
    """Return ``-self``."""


@pointwise(
    of="pow",
    node="PowBackward0",
    self=lambda g, self, exponent: (
        zeros_of(g) if exponent == 0 else g * (exponent * self ** (exponent - 1))
    ),
)
def pow_number(self, *, exponent):
    """Return ``self`` to the power of a number."""
    if exponent < 0 and np.asarray(self).dtype.kind in "iu":
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    # float32 ** 3 takes 60 times as long as two products
    return self * self * self if exponent == 3 else np.power(self, exponent)


@pointwise(
    of="pow",
    node="PowBackward1",
    self=lambda g, self, exponent: where(
        exponent == 0, 0, g * (exponent * pow_tensor(self, exponent - 1))
    ),
    exponent=lambda g, self, exponent, result: (
        g * unless_zero_base(result * log(self), self, exponent)
    ),
)
def pow_tensor(self, exponent):
    """Return ``self`` to the power of ``exponent``, both tensors; of whole numbers without the
    fraction."""
    try:
        return np.power(self, exponent)
    except ValueError:
        if self.dtype.kind != "i":
            raise
    whole = np.power(self, np.abs(exponent))
    return np.where(exponent < 0, np.where(np.abs(self) == 1, whole, 0), whole)


@pointwise(
    of="pow",
    node="PowBackward2",
    exponent=lambda g, exponent, result, self: (
        g * unless_zero_base(result * natural_log(self), self, exponent)
    ),
)
def pow_base(exponent, *, self):
    """Return the number ``self`` to the power of ``exponent``."""
    return np.power(np.array(self).astype(exponent.dtype), exponent)


def unless_zero_base(slope: Any, base: Any, exponent: Any) -> Any:
    """Return the derivative of a power by its exponent; 0 where powers of 0 are constantly 0."""
    if isinstance(base, (bool, int, float)):
        return slope if base else where(exponent >= 0, 0, slope)
    return where(base == 0, where(exponent >= 0, 0, slope), slope)


def natural_log(number: float) -> float:
    """Return the logarithm of a number; -inf at 0, NaN below."""
    return math.log(number) if number > 0 else -math.inf if number == 0 else math.nan


@pointwise(np.exp, self=lambda g, result: g * result, **FLOATING)
def exp(self):
    """Return ``e`` to the power of ``self``."""


@pointwise(
    np.log, result_dtype="float", self=lambda g, self: g / self, variants="function method inplace"
)
def log(self):
    """Return the natural logarithm: -inf at 0, NaN for negative numbers."""


@pointwise(np.sqrt, self=lambda g, result: g / (2 * result), **FLOATING)
def sqrt(self):
    """Return the square root, NaN for negative numbers. Its derivative at 0 is infinite."""


@pointwise(np.sin, self=lambda g, self: g * cos(self), **FLOATING)
def sin(self):
    """Return the sine of an angle in radians."""


@pointwise(np.cos, self=lambda g, self: g * -sin(self), **FLOATING)
def cos(self):
    """Return the cosine of an angle in radians."""


@pointwise(np.tanh, self=lambda g, result: g * (1 - result * result), **FLOATING)
def tanh(self):
    """Return the hyperbolic tangent."""


def logistic(x: Any) -> Any:
    """Return arrays: ``1 / (1 + exp(-x))`` by way of tanh: as fast, and nothing overflows."""
    if type(x) is np.ndarray and x.dtype.kind == "f":
        if x.size > BLOCK or not x.ndim:
            return _logistic(x)
        (half,) = numbers(x.dtype, 0.5)  # as below: what decides there takes as long as this
        out = np.multiply(x, half)
        np.tanh(out, out)
        np.multiply(out, half, out)
        return np.add(out, half, out)
    return np.add(np.multiply(np.tanh(np.multiply(x, 0.5)), 0.5), 0.5)


def logistic_passes(out: Any, x: Any) -> None:
    """Compute :func:`logistic` of arrays."""
    (half,) = numbers(x.dtype, 0.5)
    np.multiply(x, half, out)
    np.tanh(out, out)
    out *= half
    out += half


_logistic = in_passes(0)(logistic_passes)


@pointwise(
    logistic, self=lambda g, result: g * (1 - result) * result, aliases="special.expit", **FLOATING
)
def sigmoid(self):
    """Return the logistic function, ``1 / (1 + exp(-self))``."""


@pointwise(
    bools="Boolean inputs not supported for relu",
    # by `where`, not by a product: 0 * inf would be NaN where PyTorch has 0; at NaN it has g
    self=computed_by(
        lambda g, result: _where_not_zero(result, g),
        lambda g, result: where(result != 0, g, 0),
        lambda g, result: _masked_in_blocks(result, g, g),
    ),
    second=Second("ThresholdBackwardBackward0"),
    out="",
    **EVERY_FORM,
)
def relu(self):
    """Return ``self`` where it is positive, else 0."""
    (zero,) = numbers(self.dtype, 0)
    return np.maximum(self, zero)


def _where_not_zero(x: Any, g: Any) -> Any:
    if type(g) is not np.ndarray or x.size > LARGE:
        return _masked_in_blocks(x, g, None)
    (zero,) = numbers(x.dtype, 0)
    return masked(g, np.not_equal(x, zero))


def _masked_in_blocks(x: Any, g: Any, out: Any) -> Any:
    """Return ``g`` where ``x`` is not 0, else 0, in the memory of ``out`` unless that is None."""
    if (
        type(g) is not np.ndarray
        or g.dtype is not x.dtype
        or g.shape != x.shape
        or not (g.flags.c_contiguous and x.flags.c_contiguous)
    ):
        return where(x != 0, g, 0)
    out = np.empty(g.shape, g.dtype) if out is None else out
    bits = _BITS[g.itemsize]
    values, given, result = x.reshape(-1), g.reshape(-1).view(bits), out.reshape(-1).view(bits)
    (zero,) = numbers(x.dtype, 0)
    with memory(1, (BLOCK,), bits) as (spare,):
        for start in range(0, g.size, BLOCK):
            part = slice(start, start + BLOCK)
            mask = np.not_equal(values[part], zero).view(_INT8)
            kept = spare[: len(mask)]
            np.copyto(kept, np.negative(mask, mask))
            np.bitwise_and(given[part], kept, result[part])
    return out


@pointwise(
    np.absolute,
    numbers="abs_cpu",
    self=lambda g, self: g * sgn(self),
    aliases="absolute",
    out="same",
    **EVERY_FORM,
)
def abs(self):
    """Return the absolute value; its derivative at 0 is 0."""


@pointwise(np.zeros_like)
def zeros_of(self):
    """Return zeros in place of ``self``; unlike ``self * 0``, also for infinite elements."""


@pointwise(self=lambda g: zeros_of(g), variants="function method inplace", out="same")
def sign(self):
    """Return -1, 0 or 1, and 0 for NaN; its derivative is 0."""
    return _signs(self)


def _signs(x):
    if x.dtype.kind != "f":
        return x if x.dtype == np.bool_ else np.sign(x)
    # by bytes: `np.sign` keeps NaN, and takes twice as long on a large array
    return ((x > 0).view(np.int8) - (x < 0).view(np.int8)).astype(x.dtype)


@pointwise(self=lambda g: zeros_of(g), variants="function method inplace", out="same")
def sgn(self):
    """Return the same as :func:`sign`, because there are no complex numbers."""
    return _signs(self)


@pointwise(
    node="ClampBackward1",
    self=lambda g, self, min, max: where(within(self, min=min, max=max), g, 0),
)
def clamp(self, *, min=None, max=None):
    """Return ``self`` clamped to the range from ``min`` to ``max``; the gradient passes for
    elements in that range."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return np.clip(self, min, max)


@pointwise(result_dtype="bool")
def within(self, *, min=None, max=None):
    """Return where ``min <= self <= max``; a bound of None has no effect."""
    inside = np.ones(np.shape(self), bool) if min is None else np.greater_equal(self, min)
    return inside if max is None else np.logical_and(inside, np.less_equal(self, max))


_BITS = {size: np.dtype(f"i{size}") for size in (2, 4, 8)}
_INT8 = np.dtype(np.int8)
_FEW: Final = 256  # elements up to which `np.where` is as fast
_SOME: Final = 1 << 12  # up to which a product of whole numbers is faster than three passes


def masked(x: Any, mask: Any) -> Any:
    """Return arrays of floats: ``x`` where ``mask`` holds, else 0.

    By bits, which takes a fifth of the time of ``np.where``; a product of numbers with the mask
    would make NaN of infinity.
    """
    if mask.size <= _FEW:
        (zero,) = numbers(x.dtype, 0)
        return np.where(mask, x, zero)
    bits = _BITS[x.itemsize]
    if mask.size <= _SOME:
        return np.multiply(x.view(bits), mask).view(x.dtype)
    ones = np.negative(mask.view(_INT8)).astype(bits)  # all bits set where the mask holds
    same = x.ndim and ones.shape == x.shape
    return np.bitwise_and(ones, x.view(bits), out=ones if same else None).view(x.dtype)


def chosen(mask: Any, x: Any, y: Any) -> Any:
    """Return ``np.where(mask, x, y)``, of large arrays of floats of one shape by bits: in a quarter
    of the time, as no branch is mispredicted."""
    if not (
        mask.size > 1024
        and type(x) is type(y) is np.ndarray
        and x.shape == y.shape == mask.shape
        and x.dtype == y.dtype
        and x.dtype.kind == "f"
    ):
        return np.where(mask, x, y)
    bits = _BITS[x.itemsize]
    taken = np.negative(mask.view(_INT8)).astype(bits)
    below = y.view(bits)
    result = np.bitwise_xor(x.view(bits), below)
    np.bitwise_and(result, taken, result)
    return np.bitwise_xor(result, below, result).view(x.dtype)


@pointwise(
    keeps="condition",
    linear=True,
    self=lambda g, condition: where(condition, g, 0),
    other=lambda g, condition: where(condition, 0, g),
)
def where(condition, self, other):
    """Return ``self`` where ``condition`` holds, else ``other``."""
    if type(condition) is np.ndarray and condition.dtype.kind == "b":
        if (
            type(other) is int
            and other == 0
            and type(self) is np.ndarray
            and self.dtype.kind == "f"
        ):
            return masked(self, condition)
        if (
            type(self) is int
            and self == 0
            and type(other) is np.ndarray
            and other.dtype.kind == "f"
        ):
            return masked(other, ~condition)
        return chosen(condition, self, other)
    return np.where(condition, self, other)


# Comparisons: no gradient flows through them.


@pointwise(np.equal, result_dtype="bool", variants="function method inplace_bool", scalars="other")
def eq(self, other):
    """Return ``self == other``."""


@pointwise(np.not_equal, aliases="not_equal", **COMPARISON)
def ne(self, other):
    """Return ``self != other``."""


@pointwise(np.less, aliases="less", **COMPARISON)
def lt(self, other):
    """Return ``self < other``."""


@pointwise(np.less_equal, aliases="less_equal", **COMPARISON)
def le(self, other):
    """Return ``self <= other``."""


@pointwise(np.greater, aliases="greater", **COMPARISON)
def gt(self, other):
    """Return ``self > other``."""


@pointwise(np.greater_equal, aliases="greater_equal", **COMPARISON)
def ge(self, other):
    """Return ``self >= other``."""
