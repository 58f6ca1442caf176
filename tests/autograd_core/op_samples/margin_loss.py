"""Samples of the ops of :mod:`autograd_core.ops.losses.margin_loss`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.elementwise_loss import REDUCTIONS
from tests.autograd_core.op_samples.sample import Sample

_LABELS = np.array([2, 0])

SAMPLES = {
    "multi_margin_loss": (
        *(Sample(((2, 3), _LABELS), each) for each in REDUCTIONS),
        Sample(((2, 3), _LABELS, np.array([1.0, 2.0, 0.5])), {"p": 2, "margin": 0.7}),
    ),
    "multilabel_margin_loss": tuple(
        Sample(((2, 4), np.array([[3, 0, -1, 1], [1, -1, 0, 0]])), each) for each in REDUCTIONS
    ),
}
