"""Samples of the ops of :mod:`autograd_core.ops.algebra.lu`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_SQUARE = [[2.0, 0.5, 0.3], [1.0, 3.0, -0.2], [0.4, -1.0, 1.5]]
_PIVOTS = np.array([2, 2, 3], np.int32)

SAMPLES = {
    "lu_factor_ex": (Sample((_SQUARE,)), Sample(((2, 2, 3),)), Sample(((3, 2),))),
    "lu": (Sample((_SQUARE,)), Sample(((2, 2, 3),)), Sample(((3, 2),))),
    "lu_unpack": (
        Sample((_SQUARE, _PIVOTS)),
        Sample(((2, 3), np.array([2, 2], np.int32))),
        Sample(((3, 2), np.array([3, 2], np.int32))),
    ),
    "lu_solve": (
        Sample((_SQUARE, _PIVOTS, (3, 2))),
        Sample((_SQUARE, _PIVOTS, (2, 3, 1)), {"adjoint": True}),
        Sample((_SQUARE, _PIVOTS, (2, 3)), {"left": False}),
    ),
}
