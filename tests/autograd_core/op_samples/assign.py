"""Samples of the ops of :mod:`autograd_core.ops.indices.assign`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "copy": (Sample(((2, 3), (2, 3))), Sample(((2, 3), (3,)))),
    "fill": (Sample(((2, 3),), {"value": 2.5}),),
    "zero": (Sample(((2,),)),),
    "assigned": (Sample(((3, 2), (2,)), {"indices": (np.array([2, 0]),)}),),
}
