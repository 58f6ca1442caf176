"""Samples of the ops of :mod:`autograd_core.ops.losses.loss`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_LABELS = np.array([2, 0, 1, 0])

SAMPLES = {
    "nll_loss": (
        Sample(((4, 3), _LABELS)),
        Sample(((3,), np.array(1))),
        Sample(((4, 3), _LABELS), {"reduction": "none", "ignore_index": 0}),
        Sample(((4, 3), _LABELS, np.array([0.5, 1.0, 2.0])), {"ignore_index": 2}),
    ),
    "nll_loss2d": (
        Sample(((2, 3, 2), np.array([[0, 1], [2, 2]])), {"reduction": "sum"}),
        Sample(((2, 3, 1, 2), np.array([[[0, 1]], [[2, 2]]])), {"ignore_index": 1}),
    ),
    "nll_loss_backward": (
        Sample(((), _LABELS), {"shape": (4, 3), "reduction": "mean", "ignore_index": 1}),
        Sample(((4,), _LABELS), {"shape": (4, 3), "reduction": "none", "ignore_index": -100}),
    ),
    "nll_loss2d_backward": (
        Sample(
            ((), np.array([[0, 1], [2, 2]])),
            {"shape": (2, 3, 2), "reduction": "mean", "ignore_index": 1},
        ),
    ),
    "mse_loss": (Sample(((2, 3), (2, 3))), Sample(((3,), (3,)), {"reduction": "none"})),
}
