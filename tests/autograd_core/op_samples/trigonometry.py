"""Samples of the ops of :mod:`autograd_core.ops.pointwise.trigonometry`."""

from __future__ import annotations

from tests.autograd_core.op_samples.elementwise import POSITIVE
from tests.autograd_core.op_samples.sample import Sample

_WITHIN_ONE = (Sample(([-0.5, 0.25, 0.75],)), Sample(([[0.0, 0.5]],)))

SAMPLES = {
    "asin": _WITHIN_ONE,
    "acos": _WITHIN_ONE,
    "acosh": (Sample(([1.5, 2.0],)), Sample(([[4.0]],))),
    "atanh": _WITHIN_ONE,
    "sinc": POSITIVE,
}
