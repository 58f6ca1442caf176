"""Samples of the ops of :mod:`autograd_core.ops.indices.masking`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_MASK = np.array([[True, False, True], [False, True, True]])

SAMPLES = {
    "masked_fill": (Sample(((2, 3), _MASK), {"value": 0.5}), Sample(((3,), _MASK), {"value": 1})),
    "masked_fill_tensor": (Sample(((2, 3), _MASK, ())), Sample(((3,), _MASK, ()))),
    "masked_select": (Sample(((2, 3), _MASK)), Sample(((3,), _MASK)), Sample(((2, 3), _MASK[0]))),
    "place": (Sample(((4,), _MASK), {"shape": (2, 3)}),),
    "masked_scatter": (Sample(((2, 3), (5,), _MASK)), Sample(((3,), (2, 2), _MASK))),
}
