"""Elementwise arithmetic and functions, broadcasting as NumPy does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import Sample, Second, pointwise
from autograd_core.ops.blocks import in_blocks

PAIR = (Sample(((2, 3), (2, 3))), Sample(((2, 3), (3,))), Sample(((), (2, 1))))
ONE = (Sample(((3,),)), Sample(((2, 2),)), Sample(((),)))
POSITIVE = (Sample(([0.5, 1.0, 2.5],)), Sample(([[3.0, 0.25]],)))


@pointwise(np.add, linear=True, x=lambda g: g, y=lambda g: g, samples=PAIR)
def add(x, y):
    """``x + y``."""


@pointwise(
    linear=True,
    of="add",
    node="AddBackward0",
    x=lambda g: g,
    y=lambda g, alpha: g * alpha,
    samples=(Sample(((2, 2), (2,)), {"alpha": 3}),),
)
def add_scaled(x, y, *, alpha):
    """``x + alpha * y``."""
    return np.add(x, y * y.dtype.type(alpha))


@pointwise(np.subtract, linear=True, x=lambda g: g, y=lambda g: -g, samples=PAIR)
def sub(x, y):
    """``x - y``."""


@pointwise(
    linear=True,
    of="sub",
    node="SubBackward0",
    x=lambda g: g,
    y=lambda g, alpha: -g * alpha,
    samples=(Sample(((2, 2), (2,)), {"alpha": 3}),),
)
def sub_scaled(x, y, *, alpha):
    """``x - alpha * y``."""
    return np.subtract(x, y * y.dtype.type(alpha))


@pointwise(
    linear=True,
    node="RsubBackward1",
    x=lambda g: -g,
    samples=(Sample(((2, 3),), {"number": 2.5}),),
)
def rsub(x, *, number):
    """``number - x``."""
    return np.subtract(np.array(number).astype(x.dtype), x)


@pointwise(
    np.multiply,
    x=lambda g, y: g * y,
    y=lambda g, x: g * x,
    samples=PAIR,
    variants="function method inplace",
    aliases="multiply",
)
def mul(x, y):
    """Elementwise product."""


@pointwise(
    np.true_divide,
    result="float",
    x=lambda g, y: g / y,
    y=lambda g, x, y: -g * ((x / y) / y),
    samples=(Sample(((2, 3), [1.0, 2.0, -4.0])), Sample(((), [[0.5], [2.0]]))),
)
def div(x, y):
    """Elementwise quotient; the quotient of integers is a floating point number."""


@pointwise(
    of="mul",
    node="MulBackward1",
    result="same",
    linear=True,
    x=lambda g, number: g * number,
    samples=(Sample(((2, 3),), {"number": 2.5}),),
)
def mul_number(x, *, number):
    """``x`` times a number, as PyTorch multiplies within its own functions."""
    return np.multiply(x, number)


@pointwise(
    of="div",
    node="DivBackward1",
    result="float",
    linear=True,
    x=lambda g, number: g / number,
    samples=(Sample(((2, 3),), {"number": 2.5}),),
)
def div_number(x, *, number):
    """``x`` over a number, as PyTorch divides within its own functions."""
    return np.true_divide(x, number)


@pointwise(
    np.reciprocal,
    result="float",
    x=lambda g, ans: -g * (ans * ans),
    samples=POSITIVE,
    variants="function method inplace",
)
def reciprocal(x):
    """``1 / x``."""


@pointwise(
    np.negative,
    linear=True,
    x=lambda g: -g,
    samples=ONE,
    variants="function method inplace",
    aliases="negative",
)
def neg(x):
    """``-x``."""


@pointwise(
    of="pow",
    node="PowBackward0",
    x=lambda g, x, exponent: zeros_of(g) if exponent == 0 else g * (exponent * x ** (exponent - 1)),
    samples=(
        Sample(([0.5, 2.0, -3.0],), {"exponent": 2}),
        Sample(([0.5, 2.0],), {"exponent": -1.5}),
        Sample(([0.5, 2.0],), {"exponent": 0}),
    ),
)
def pow_number(x, *, exponent):
    """``x`` to the power of a number."""
    if exponent < 0 and np.asarray(x).dtype.kind in "iu":
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    # float32 ** 3 takes 60 times as long as two products
    return x * x * x if exponent == 3 else np.power(x, exponent)


@pointwise(
    np.power,
    of="pow",
    node="PowBackward1",
    x=lambda g, x, y: where(y == 0, 0, g * (y * pow_tensor(x, y - 1))),
    y=lambda g, x, y, ans: unless_zero_base(g * (ans * log(x)), x, y),
    samples=(
        Sample(([0.5, 2.0, 3.0], [2.0, -1.0, 0.5])),
        Sample(([[0.5], [2.0]], [1.5, 3.0, -2.0])),
    ),
)
def pow_tensor(x, y):
    """``x`` to the power of ``y``, both tensors."""


@pointwise(
    of="pow",
    node="PowBackward2",
    x=lambda g, x, ans, base: unless_zero_base(g * (ans * natural_log(base)), base, x),
    samples=(Sample(([0.5, 2.0, -3.0],), {"base": 2.5}),),
)
def pow_base(x, *, base):
    """The number ``base`` to the power of ``x``."""
    return np.power(np.array(base).astype(x.dtype), x)


def unless_zero_base(g: Any, base: Any, exponent: Any) -> Any:
    """``g``, the gradient of the exponent; 0 where powers of 0 are constantly 0."""
    if isinstance(base, (bool, int, float)):
        return g if base else where(exponent >= 0, 0, g)
    return where(base == 0, where(exponent >= 0, 0, g), g)


def natural_log(number: float) -> float:
    """The logarithm of a number; -inf at 0, NaN below."""
    return math.log(number) if number > 0 else -math.inf if number == 0 else math.nan


@pointwise(
    np.exp,
    result="float",
    x=lambda g, ans: g * ans,
    samples=ONE,
    variants="function method inplace",
)
def exp(x):
    """``e`` to the power of ``x``."""


@pointwise(
    np.log,
    result="float",
    x=lambda g, x: g / x,
    samples=POSITIVE,
    variants="function method inplace",
)
def log(x):
    """Natural logarithm; -inf at 0, NaN below."""


@pointwise(
    np.sqrt,
    result="float",
    x=lambda g, ans: g / (2 * ans),
    samples=POSITIVE,
    variants="function method inplace",
)
def sqrt(x):
    """Square root; NaN below 0.  Its derivative at 0 is infinite."""


@pointwise(
    np.sin,
    result="float",
    x=lambda g, x: g * cos(x),
    samples=ONE,
    variants="function method inplace",
)
def sin(x):
    """Sine of an angle in radians."""


@pointwise(
    np.cos,
    result="float",
    x=lambda g, x: g * -sin(x),
    samples=ONE,
    variants="function method inplace",
)
def cos(x):
    """Cosine of an angle in radians."""


@pointwise(
    np.tanh,
    result="float",
    x=lambda g, ans: g * (1 - ans * ans),
    samples=ONE,
    variants="function method inplace",
)
def tanh(x):
    """Hyperbolic tangent."""


@in_blocks
def _sigmoid(x: Any) -> Any:
    # 1 / (1 + exp(-x)) by way of tanh: as fast, and nothing overflows
    half = np.multiply(x, 0.5)
    return np.add(np.multiply(np.tanh(half), 0.5), 0.5)


@pointwise(
    _sigmoid,
    result="float",
    x=lambda g, ans: g * (1 - ans) * ans,
    samples=ONE,
    variants="function method inplace",
    aliases="special.expit",
)
def sigmoid(x):
    """Logistic function, ``1 / (1 + exp(-x))``."""


@pointwise(
    numbers="relu",
    # by `where`, not by a product: 0 * inf would be NaN where PyTorch has 0; at NaN it has g
    x=lambda g, ans: where(ans != 0, g, 0),
    second=Second("ThresholdBackwardBackward0"),
    samples=(Sample(([-1.0, 0.5, 2.0],)), Sample(([[-0.5, 0.25]],))),
    variants="function method inplace",
)
def relu(x):
    """``x`` where it is positive, else 0."""
    return np.maximum(x, 0)


@pointwise(
    np.absolute,
    numbers="abs_cpu",
    x=lambda g, x: g * sgn(x),
    samples=(Sample(([-1.5, 2.0],)),),
    variants="function method inplace",
    aliases="absolute",
)
def abs(x):
    """Absolute value; its derivative at 0 is 0."""


@pointwise(np.zeros_like)
def zeros_of(x):
    """Zeros in the place of ``x``; unlike ``x * 0``, also where it is infinite."""


@pointwise(
    x=lambda g: zeros_of(g), samples=(Sample(([-1.5, 2.0],)),), variants="function method inplace"
)
def sign(x):
    """-1, 0 or 1, and 0 for NaN; its derivative is 0."""
    return _signs(x)


def _signs(x):
    if x.dtype.kind != "f":
        return x if x.dtype == np.bool_ else np.sign(x)
    # by bytes: `np.sign` keeps NaN, and takes twice as long on a large array
    return ((x > 0).view(np.int8) - (x < 0).view(np.int8)).astype(x.dtype)


@pointwise(
    x=lambda g: zeros_of(g), samples=(Sample(([-1.5, 2.0],)),), variants="function method inplace"
)
def sgn(x):
    """The same as :func:`sign`, as long as there are no complex numbers."""
    return _signs(x)


@pointwise(
    node="ClampBackward1",
    x=lambda g, x, min, max: where(within(x, min=min, max=max), g, 0),
    samples=(
        Sample(([-2.0, 0.5, 3.0],), {"min": -1, "max": 1}),
        Sample(([-2.0, 1.0],), {"min": 0}),
    ),
)
def clamp(x, *, min=None, max=None):
    """``x`` held between the numbers ``min`` and ``max``; the gradient passes where it was."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return np.clip(x, min, max)


@pointwise(result="bool")
def within(x, *, min=None, max=None):
    """Where ``min <= x <= max``; a bound of None is no bound."""
    inside = np.ones(np.shape(x), bool) if min is None else np.greater_equal(x, min)
    return inside if max is None else np.logical_and(inside, np.less_equal(x, max))


_BITS = {2: np.int16, 4: np.int32, 8: np.int64}


def masked(x: Any, mask: Any) -> Any:
    """Arrays of floats: ``x`` where ``mask`` holds, else 0.

    By bits, which takes a fifth of the time of ``np.where``; a product with the mask would
    make NaN of infinity.
    """
    bits = _BITS[x.itemsize]
    ones = np.asarray(mask, bits)
    np.negative(ones, out=ones)  # all bits set where the mask holds
    same = ones.shape == x.shape
    return np.bitwise_and(ones, x.view(bits), out=ones if same else None).view(x.dtype)


@pointwise(
    keeps="condition",
    linear=True,
    x=lambda g, condition: where(condition, g, 0),
    y=lambda g, condition: where(condition, 0, g),
    samples=(Sample(([True, False, True], (3,), (2, 3))),),
)
def where(condition, x, y):
    """``x`` where ``condition`` holds, else ``y``."""
    if type(condition) is np.ndarray:
        if type(y) is int and y == 0 and type(x) is np.ndarray and x.dtype.kind == "f":
            return masked(x, condition)
        if type(x) is int and x == 0 and type(y) is np.ndarray and y.dtype.kind == "f":
            return masked(y, ~condition)
    return np.where(condition, x, y)


# Comparisons: no gradient flows through them.


@pointwise(np.equal, result="bool", variants="function method inplace_bool")
def eq(x, y):
    """``x == y``."""


@pointwise(
    np.not_equal, result="bool", variants="function method inplace_bool", aliases="not_equal"
)
def ne(x, y):
    """``x != y``."""


@pointwise(np.less, result="bool", variants="function method inplace_bool", aliases="less")
def lt(x, y):
    """``x < y``."""


@pointwise(
    np.less_equal, result="bool", variants="function method inplace_bool", aliases="less_equal"
)
def le(x, y):
    """``x <= y``."""


@pointwise(np.greater, result="bool", variants="function method inplace_bool", aliases="greater")
def gt(x, y):
    """``x > y``."""


@pointwise(
    np.greater_equal,
    result="bool",
    variants="function method inplace_bool",
    aliases="greater_equal",
)
def ge(x, y):
    """``x >= y``."""
