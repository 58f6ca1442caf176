"""Samples of the ops of :mod:`autograd_core.ops.networks.batch_norm`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_STATS = np.array([0.5, -1.0, 0.2]), np.array([1.0, 2.0, 0.5])

SAMPLES = {
    "batch_norm": (
        Sample(((4, 3), (3,), (3,), None, None)),
        Sample(((2, 3, 2), None, None, None, None), {"eps": 0.1}),
        Sample(((2, 3, 2, 2), (3,), (3,), *_STATS), {"training": False}),
    ),
    "group_norm": (
        Sample(((2, 4, 3), (4,), (4,)), {"num_groups": 2}),
        Sample(((3, 4), None, None), {"num_groups": 1, "eps": 0.1}),
    ),
}
