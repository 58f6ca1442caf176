"""Samples of the ops of :mod:`autograd_core.ops.reductions.distance`."""

from __future__ import annotations

import math

from tests.autograd_core.op_samples.sample import Sample

_MATRIX = [[1.0, 4.0, 2.5], [3.0, 0.5, -2.0]]
_APART = ([[1.0, 4.0], [3.0, 0.5]], [2.5, -1.0])
_POINTS = ([[1.0, 4.0], [3.0, 0.5], [-1.0, 0.2]], [[2.5, -1.0], [0.3, 0.1]])

SAMPLES = {
    "dist": tuple(Sample(_APART, {"p": p}) for p in (2.0, 1.0, 3.0)),
    "renorm": (
        Sample((_MATRIX,), {"p": 2.0, "dim": 0, "maxnorm": 4.0}),
        Sample((_MATRIX,), {"p": 1.0, "dim": 1, "maxnorm": 4.2}),
    ),
    "cdist": (
        *(Sample(_POINTS, {"p": p}) for p in (2.0, 1.0, 3.0, math.inf)),
        Sample((_POINTS[0], [_POINTS[1], _POINTS[1]])),
    ),
    "pdist": tuple(Sample((_POINTS[0],), {"p": p}) for p in (2.0, 1.0, 3.0, math.inf)),
}
