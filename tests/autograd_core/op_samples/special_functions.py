"""Samples of the ops of :mod:`autograd_core.ops.pointwise.special_functions`."""

from __future__ import annotations

from tests.autograd_core.op_samples.elementwise import POSITIVE
from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "erfinv": (Sample(([-0.5, 0.25, 0.75],)),),
    "lgamma": POSITIVE,
    "digamma": POSITIVE,
    "polygamma": (Sample(([0.5, 1.0, 2.5],), {"n": 1}), Sample(([3.0],), {"n": 0})),
    "mvlgamma": (Sample(([2.5, 3.0],), {"p": 3}),),
    "i1": POSITIVE,
}
