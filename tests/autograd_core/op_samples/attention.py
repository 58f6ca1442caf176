"""Samples of the ops of :mod:`autograd_core.ops.networks.attention`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_CAUSAL = np.array([[0.0, -np.inf, -np.inf], [0.0, 0.5, -np.inf]])

SAMPLES = {
    "safe_softmax": (Sample(((2, 3),), {"dim": 1}),),
    "attention": (
        Sample(((1, 2, 2, 3), (1, 2, 3, 3), (1, 2, 3, 4)), {"scale": 0.5}),
        Sample(((1, 1, 3, 2), (1, 1, 3, 2), (1, 1, 3, 2)), {"scale": 0.7, "is_causal": True}),
        Sample(((1, 1, 2, 3), (1, 1, 3, 3), (1, 1, 3, 2), _CAUSAL), {"scale": 1.0}),
    ),
}
