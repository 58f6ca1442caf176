"""Samples of the ops of :mod:`autograd_core.ops.indices.index_along`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_INDEX = np.array([2, 0, 2])
_TWO = np.array([2, 0])
_FLAT = np.array([4, 0, 4])

SAMPLES = {
    "index_select": (Sample(((3, 2), _INDEX), {"dim": 0}), Sample(((2, 3), _INDEX), {"dim": 1})),
    "add_slices": (Sample(((3, 2), _INDEX), {"shape": (4, 2), "dim": 0}),),
    "index_add": (
        Sample(((3, 2), (3, 2), _INDEX), {"dim": 0}),
        Sample(((2, 3), (2, 2), _TWO), {"dim": 1, "alpha": 2}),
    ),
    "index_copy": (Sample(((3, 2), (2, 2), _TWO), {"dim": 0}),),
    "index_fill": (Sample(((3, 2), _TWO), {"dim": 0, "value": 0.5}),),
    "index_fill_tensor": (Sample(((3, 2), (), _TWO), {"dim": 0}),),
    "index_reduce": tuple(
        Sample(
            ([[1.5, -2.0], [3.0, 0.7]], [[2.0, 4.0], [0.3, 2.5], [1.0, -3.0]], np.array([1, 0, 1])),
            {"dim": 0, "reduce": reduce, "include_self": include_self},
        )
        for reduce in ("prod", "mean", "amax", "amin")
        for include_self in (True, False)
    ),
    "index_put_added": (Sample(((3, 2), (2,)), {"indices": (np.array([2, 0, 2]),)}),),
    "take": (Sample(((2, 3), _FLAT)),),
    "put_flat": (Sample(((3,), _FLAT), {"shape": (2, 3)}),),
    "put": (
        Sample(((2, 3), (2,), np.array([4, 0]))),
        Sample(((2, 3), (3,), _FLAT), {"accumulate": True}),
    ),
}
