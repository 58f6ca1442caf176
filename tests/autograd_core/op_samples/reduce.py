"""Samples of the ops of :mod:`autograd_core.ops.reductions.reduce`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "sum_all": (Sample(((2, 3),)), Sample(((),))),
    "sum_dim": (
        Sample(((2, 3),), {"dim": 1}),
        Sample(((2, 3, 2),), {"dim": (0, -1), "keepdim": True}),
    ),
    "mean_all": (Sample(((2, 3),)),),
    "mean_dim": (
        Sample(((2, 3),), {"dim": 0}),
        Sample(((2, 3),), {"dim": (0, 1), "keepdim": True}),
    ),
    "max_all": (Sample(([[1.0, 4.0], [2.0, 3.0]],)),),
    "min_all": (Sample(([[1.0, 4.0], [2.0, 3.0]],)),),
    "max_dim": (Sample(([[1.0, 4.0], [3.0, 2.0]],), {"dim": 1}),),
    "min_dim": (Sample(([[1.0, 4.0], [3.0, 2.0]],), {"dim": 1}),),
    "put_along": (Sample(((2,), np.array([1, 0])), {"shape": (2, 3), "dim": 1, "keepdim": False}),),
    "take_along": (Sample(((2, 3), np.array([1, 0])), {"dim": 1, "keepdim": False}),),
}
