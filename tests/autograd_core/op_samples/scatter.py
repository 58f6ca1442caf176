"""Samples of the ops of :mod:`autograd_core.ops.indices.scatter`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_INDEX = np.array([[0, 2, 1], [1, 0, 0]])
_SMALL = np.array([[2, 0], [0, 1]])
_AT = {"dim": 1}
_REDUCTIONS = tuple(
    Sample(
        ([[1.5, -2.0, 0.5], [3.0, 0.7, -1.0]], [[2.0, 4.0, -1.5], [0.3, 2.5, -0.2]], _INDEX),
        {"dim": 1, "reduce": reduce, "include_self": include_self},
    )
    for reduce in ("sum", "prod", "mean", "amax", "amin")
    for include_self in (True, False)
)

SAMPLES = {
    "gather": (Sample(((2, 3), _INDEX), _AT), Sample(((3, 3), _SMALL), {"dim": 0})),
    "scatter_zeros": (Sample(((2, 3), _INDEX), {"shape": (2, 3), **_AT}),),
    "scatter": (Sample(((2, 3), (2, 2), _SMALL), _AT), Sample(((2, 3), (2, 3), _SMALL), _AT)),
    "scatter_number": (Sample(((2, 3), _SMALL), {"value": 0.5, **_AT}),),
    "scatter_add": (Sample(((2, 3), (2, 3), _INDEX), _AT), Sample(((2, 3), (2, 3), _SMALL), _AT)),
    "scatter_reduce": _REDUCTIONS,
}
