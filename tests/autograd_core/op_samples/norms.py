"""Samples of the ops of :mod:`autograd_core.ops.reductions.norms`."""

from __future__ import annotations

import math

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "vector_norm": (
        Sample(((2, 3),)),
        Sample(((2, 3),), {"ord": 1, "dim": 1}),
        Sample(((2, 3),), {"ord": 3, "dim": 0, "keepdim": True}),
        Sample(((2, 3),), {"ord": 1.5, "dim": (0, 1)}),
        Sample(((2, 3),), {"ord": math.inf, "dim": -1}),
        Sample(((2, 3),), {"ord": -math.inf}),
    ),
    "cross": (Sample(((2, 3), (2, 3))), Sample(((3, 2), (3, 1)), {"dim": 0})),
    "vdot": (Sample(((3,), (3,))),),
}
