"""Truth and bits: no gradient flows through them."""

from __future__ import annotations

import numpy as np

from autograd_core.op import op, pointwise
from autograd_core.ops.checks import scalar_name


@pointwise(np.logical_and, result="bool", variants="function method inplace")
def logical_and(x, y):
    """Where both are not 0."""


@pointwise(np.logical_or, result="bool", variants="function method inplace")
def logical_or(x, y):
    """Where one is not 0."""


@pointwise(np.logical_xor, result="bool", variants="function method inplace")
def logical_xor(x, y):
    """Where one and only one is not 0."""


@pointwise(np.logical_not, result="bool", variants="function method inplace")
def logical_not(x):
    """Where ``x`` is 0."""


@pointwise(np.isnan, result="bool", variants="function method")
def isnan(x):
    """Where ``x`` is NaN."""


@pointwise(np.isinf, result="bool", variants="function method")
def isinf(x):
    """Where ``x`` is infinite."""


@pointwise(np.isfinite, result="bool", variants="function method")
def isfinite(x):
    """Where ``x`` is neither infinite nor NaN."""


@pointwise(result="bool", variants="function method")
def isposinf(x):
    """Where ``x`` is inf."""
    return x == np.inf


@pointwise(result="bool", variants="function method")
def isneginf(x):
    """Where ``x`` is -inf."""
    return x == -np.inf


@pointwise(np.signbit, result="bool", variants="function method")
def signbit(x):
    """Where the sign is negative; -0.0 has one."""


@op(variants="function method")
def isclose(x, y, /, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Where ``x`` and ``y`` agree within ``atol + rtol * |y|``."""
    if x.dtype != y.dtype:
        raise RuntimeError(f"{scalar_name(x)} did not match {scalar_name(y)}")
    return np.isclose(x, y, rtol, atol, equal_nan)


@pointwise(np.bitwise_and, variants="function method inplace")
def bitwise_and(x, y):
    """Bits set in both; of truth values, both."""


@pointwise(np.bitwise_or, variants="function method inplace")
def bitwise_or(x, y):
    """Bits set in one; of truth values, one."""


@pointwise(np.bitwise_xor, variants="function method inplace")
def bitwise_xor(x, y):
    """Bits set in one and only one."""


@pointwise(np.invert, variants="function method inplace")
def bitwise_not(x):
    """All bits turned; of truth values, the opposite."""


@pointwise(np.left_shift, variants="function method inplace")
def bitwise_left_shift(x, y):
    """Bits moved up by ``y``."""


@pointwise(np.right_shift, variants="function method inplace")
def bitwise_right_shift(x, y):
    """Bits moved down by ``y``."""
