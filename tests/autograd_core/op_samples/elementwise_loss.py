"""Samples of the ops of :mod:`autograd_core.ops.losses.elementwise_loss`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

REDUCTIONS = tuple({"reduction": name} for name in ("mean", "sum", "none"))
PAIR = tuple(Sample(((2, 3), (2, 3)), each) for each in REDUCTIONS)
_SHARES = [[0.2, 0.7, 0.5], [0.9, 0.1, 0.4]]

SAMPLES = {
    "smooth_l1_loss": (*PAIR, Sample(((3,), (3,)), {"beta": 0.3})),
    "huber_loss": (*PAIR, Sample(((3,), (3,)), {"delta": 0.3})),
    "soft_margin_loss": tuple(
        Sample(((3,), np.array([1.0, -1.0, 1.0])), each) for each in REDUCTIONS
    ),
    "binary_cross_entropy": (
        *(Sample((_SHARES, _SHARES[::-1]), each) for each in REDUCTIONS),
        Sample((_SHARES, _SHARES[::-1], np.array([1.0, 2.0, 0.5]))),
    ),
    "binary_cross_entropy_with_logits": (
        *(Sample(((2, 3), _SHARES), each) for each in REDUCTIONS),
        Sample(((2, 3), _SHARES, np.array([1.0, 2.0, 0.5]), np.array([1.0, 3.0, 0.5]))),
    ),
}
