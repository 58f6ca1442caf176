"""Samples of the ops of :mod:`autograd_core.ops.networks.fractional_pooling`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_STARTS = np.array([[[0.3, 0.7], [0.1, 0.6]]])
_OPTIONS = {"kernel_size": (2, 2), "output_size": (2, 3), "samples": _STARTS}

SAMPLES = {
    "fractional_max_pool2d": (Sample(((1, 2, 5, 6),), _OPTIONS),),
    "fractional_max_pool3d": (
        Sample(
            ((1, 1, 3, 3, 4),),
            {
                "kernel_size": (2, 1, 2),
                "output_size": (2, 2, 2),
                "samples": np.array([[[0.3, 0.7, 0.2]]]),
            },
        ),
    ),
}
