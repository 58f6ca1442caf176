"""Elementwise choices and blends of two or three tensors."""

from __future__ import annotations

import numpy as np

from autograd_core.op import EVERY_FORM, op, pointwise
from autograd_core.op.refusals import no_difference
from autograd_core.ops.checks import fitting_number
from autograd_core.ops.pointwise.elementwise import where, zeros_of
from autograd_core.ops.pointwise.logic import isnan, logical_and, logical_or


@pointwise(
    np.maximum,
    self=lambda g, self, other: where(self < other, 0, where(self == other, g / 2, g)),
    other=lambda g, self, other: where(self > other, 0, where(self == other, g / 2, g)),
    scalars="",
    variants="function method",
)
def maximum(self, other):
    """Return the elementwise maximum; equal elements share the gradient."""


@pointwise(
    np.minimum,
    self=lambda g, self, other: where(self > other, 0, where(self == other, g / 2, g)),
    other=lambda g, self, other: where(self < other, 0, where(self == other, g / 2, g)),
    scalars="",
    variants="function method",
)
def minimum(self, other):
    """Return the elementwise minimum; equal elements share the gradient."""


@pointwise(
    np.fmax,
    self=lambda g, self, other: where(logical_or(self >= other, isnan(other)), g, 0),
    other=lambda g, self, other: where(logical_or(self >= other, isnan(other)), 0, g),
    scalars="",
    variants="function method",
)
def fmax(self, other):
    """Return the elementwise maximum, ignoring NaN if the other element is a number."""


@pointwise(
    np.fmin,
    self=lambda g, self, other: where(logical_or(self <= other, isnan(other)), g, 0),
    other=lambda g, self, other: where(logical_or(self <= other, isnan(other)), 0, g),
    scalars="",
    variants="function method",
)
def fmin(self, other):
    """Return the elementwise minimum, ignoring NaN if the other element is a number."""


@pointwise(self=lambda g, self, max: where(self <= max, g, 0))
def clamp_max(self, *, max):
    """Return ``self``, or the number ``max`` where ``self`` is above it."""
    return np.minimum(self, max)


@pointwise(self=lambda g, self, min: where(self >= min, g, 0))
def clamp_min(self, *, min):
    """Return ``self``, or the number ``min`` where ``self`` is below it."""
    return np.maximum(self, min)


@pointwise(
    np.minimum,
    of="clamp_max",
    node="ClampMaxBackward1",
    self=lambda g, self, max: where(self <= max, g, 0),
    max=lambda g, self, max: where(self > max, g, 0),
)
def clamp_max_tensor(self, max):
    """Return ``self``, or ``max`` where ``self`` is above it."""


@pointwise(
    np.maximum,
    of="clamp_min",
    node="ClampMinBackward1",
    self=lambda g, self, min: where(self >= min, g, 0),
    min=lambda g, self, min: where(self < min, g, 0),
)
def clamp_min_tensor(self, min):
    """Return ``self``, or ``min`` where ``self`` is below it."""


@op(
    self=lambda g, self, min, max: where(_within(self, min, max), g, 0),
    min=lambda g, self, min, max: where(_below(self, min, max), g, 0),
    max=lambda g, self, min, max: where(_above(self, min, max), g, 0),
    broadcasts="self min max",
    of="clamp",
    node="ClampBackward0",
)
def clamp_tensors(self, min=None, max=None, /):
    """Return ``self`` clamped between two tensors, one of which is optional; all broadcast."""
    if min is not None:
        self = np.maximum(self, min)
    return self if max is None else np.minimum(self, max)


def _within(x, low, high):
    if low is None or high is None:
        return x <= high if low is None else x >= low
    return logical_and(x >= low, x <= high)


def _below(x, low, high):
    return x < low if high is None else logical_and(x < low, low < high)


def _above(x, low, high):
    return x > high if low is None else logical_or(x > high, high < low)


@pointwise(
    of="lerp",
    node="LerpBackward0",
    self=lambda g, weight: g * (1 - weight),
    end=lambda g, weight: g * weight,
    linear=True,
)
def lerp_number(self, end, *, weight):
    """Return ``self + weight * (end - self)`` for a number ``weight``."""
    return _lerp(self, end, weight)


@pointwise(
    of="lerp",
    node="LerpBackward1",
    self=lambda g, weight: g * (1 - weight),
    end=lambda g, weight: g * weight,
    weight=lambda g, self, end: g * (end - self),
)
def lerp_tensor(self, end, weight):
    """Return ``self + weight * (end - self)`` for a tensor ``weight``."""
    return _lerp(self, end, weight)


def _lerp(start, end, weight):
    # from the nearer end, so that both ends are met exactly
    far = np.abs(weight) >= 0.5
    return np.where(far, end - (end - start) * (1 - weight), start + weight * (end - start))


@pointwise(
    numbers="addcmul_cpu_out",
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * (tensor2 * value),
    tensor2=lambda g, tensor1, value: g * (tensor1 * value),
    scalars="",
    layout="preserved",
    **EVERY_FORM,
)
def addcmul(self, tensor1, tensor2, *, value=1):
    """Return ``self + value * tensor1 * tensor2``."""
    return np.add(self, fitting_number(value, self.dtype) * (tensor1 * tensor2))


@pointwise(
    self=lambda g: g,
    tensor1=lambda g, tensor2, value: g * (value / tensor2),
    tensor2=lambda g, tensor1, tensor2, value: -g * (value * tensor1 / (tensor2 * tensor2)),
    layout="preserved",
)
def addcdiv(self, tensor1, tensor2, *, value=1):
    """Return ``self + value * tensor1 / tensor2``."""
    return np.add(self, value * (tensor1 / tensor2))


@pointwise(
    of="fill",
    node="FillBackward1",
    keeps="value",
    self=lambda g: zeros_of(g),
    value=lambda g: g,
    inplace_node="FillBackward3",
)
def fill_tensor(self, value):
    """Return ``self`` filled with the value of a one-element tensor."""
    return np.full_like(self, value)


@pointwise(
    of="rsub",
    node="RsubBackward0",
    bools=no_difference,
    linear=True,
    self=lambda g, alpha: -g if alpha == 1 else -g * alpha,
    other=lambda g: g,
)
def rsub_tensor(self, other, *, alpha=1):
    """Return ``other - alpha * self``."""
    return np.subtract(other, self if alpha == 1 else alpha * self)
