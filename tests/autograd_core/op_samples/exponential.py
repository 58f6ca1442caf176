"""Samples of the ops of :mod:`autograd_core.ops.pointwise.exponential`."""

from __future__ import annotations

from tests.autograd_core.op_samples.elementwise import POSITIVE
from tests.autograd_core.op_samples.sample import Sample

_POSITIVE_PAIR = (Sample(([0.5, 1.0, 2.5], [3.0, 0.25, 1.0])), Sample(([[0.5], [2.0]], [1.5, 3.0])))

SAMPLES = {
    "log1p": POSITIVE,
    "log2": POSITIVE,
    "log10": POSITIVE,
    "rsqrt": POSITIVE,
    "xlogy": _POSITIVE_PAIR,
    "xlogy_number": (Sample(((2, 3),), {"other": 2.5}),),
    "xlogy_of_number": (Sample(([0.5, 2.0],), {"self": 2.5}),),
    "logit": (Sample(([0.2, 0.5, 0.9],)), Sample(([0.01, 0.5, 0.99],), {"eps": 0.1})),
}
