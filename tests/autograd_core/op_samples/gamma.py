"""Samples of the ops of :mod:`autograd_core.ops.pointwise.gamma`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

SAMPLES: dict[str, tuple[Sample, ...]] = {
    "standard_gamma_grad": (),  # has no derivative
    "standard_gamma": (Sample(([0.4, 1.0, 2.5],), {"part": np.array([0.1, 0.5, 0.9])}),),
}
