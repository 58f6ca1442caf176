"""Truth and bits: no gradient flows through them."""

from __future__ import annotations

import numpy as np

from autograd_core.op import op, pointwise
from autograd_core.ops.checks import scalar_name


@pointwise(np.logical_and, result_dtype="bool", variants="function method inplace", scalars="")
def logical_and(self, other):
    """Return where both are nonzero."""


@pointwise(np.logical_or, result_dtype="bool", variants="function method inplace", scalars="")
def logical_or(self, other):
    """Return where at least one is nonzero."""


@pointwise(np.logical_xor, result_dtype="bool", variants="function method inplace", scalars="")
def logical_xor(self, other):
    """Return where exactly one is nonzero."""


@pointwise(np.logical_not, result_dtype="bool", variants="function method inplace")
def logical_not(self):
    """Return where ``self`` is 0."""


@pointwise(np.isnan, result_dtype="bool", variants="function method", out="")
def isnan(self):
    """Return where ``self`` is NaN."""


@pointwise(np.isinf, result_dtype="bool", variants="function method", out="")
def isinf(self):
    """Return where ``self`` is infinite."""


@pointwise(np.isfinite, result_dtype="bool", variants="function method", out="")
def isfinite(self):
    """Return where ``self`` is neither infinite nor NaN."""


@pointwise(result_dtype="bool", variants="function method", out="expect")
def isposinf(self):
    """Return where ``self`` is inf."""
    return self == np.inf


@pointwise(result_dtype="bool", variants="function method", out="expect")
def isneginf(self):
    """Return where ``self`` is -inf."""
    return self == -np.inf


@pointwise(np.signbit, result_dtype="bool", variants="function method", out="expect")
def signbit(self):
    """Return where the sign is negative, as that of -0.0 is."""


@op(variants="function method")
def isclose(self, other, /, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return where ``self`` and ``other`` agree within ``atol + rtol * |other|``."""
    if self.dtype != other.dtype:
        raise RuntimeError(f"{scalar_name(self)} did not match {scalar_name(other)}")
    return np.isclose(self, other, rtol, atol, equal_nan)


@pointwise(np.bitwise_and, integers="bitwise_and_cpu", variants="function method inplace")
def bitwise_and(self, other):
    """Return the bitwise AND; for bools, the logical AND."""


@pointwise(np.bitwise_or, integers="bitwise_or_cpu", variants="function method inplace")
def bitwise_or(self, other):
    """Return the bitwise OR; for bools, the logical OR."""


@pointwise(np.bitwise_xor, integers="bitwise_xor_cpu", variants="function method inplace")
def bitwise_xor(self, other):
    """Return the bitwise XOR."""


@pointwise(variants="function method inplace", out="same")
def bitwise_not(self):
    """Return the bitwise NOT; for bools, the logical NOT."""
    if self.dtype.kind == "f":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return np.invert(self)


@pointwise(
    np.left_shift, integers="lshift_cpu", numbers="lshift_cpu", variants="function method inplace"
)
def bitwise_left_shift(self, other):
    """Return ``self`` shifted left by ``other`` bits."""


@pointwise(
    np.right_shift, integers="rshift_cpu", numbers="rshift_cpu", variants="function method inplace"
)
def bitwise_right_shift(self, other):
    """Return ``self`` shifted right by ``other`` bits."""
