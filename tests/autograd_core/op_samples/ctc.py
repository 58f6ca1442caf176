"""Samples of the ops of :mod:`autograd_core.ops.losses.ctc`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_LOG_PROBS = np.log(np.random.default_rng(0).dirichlet(np.ones(4), (5, 2)))

SAMPLES = {
    "ctc_loss": (
        Sample(
            (_LOG_PROBS,),
            {
                "targets": np.array([[1, 2, 2], [3, 1, 0]]),
                "input_lengths": (5, 4),
                "target_lengths": (3, 2),
                "blank": 0,
            },
            normalized=True,
        ),
    ),
}
