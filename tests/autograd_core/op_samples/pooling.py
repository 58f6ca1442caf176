"""Samples of the ops of :mod:`autograd_core.ops.networks.pooling`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_SAMPLES = (
    {"kernel_size": (2, 2), "stride": (2, 2), "padding": (0, 0), "dilation": (1, 1)},
    {"kernel_size": (2, 3), "stride": (1, 2), "padding": (1, 1), "dilation": (1, 1)},
    {"kernel_size": (2, 1, 2), "stride": (1, 1, 2), "padding": (0, 0, 1), "dilation": (1, 1, 1)},
)
_PLACES = np.array([[[[3, 0], [1, 2]]]], np.int16)

SAMPLES = {
    "max_pool2d": (
        Sample(((1, 2, 4, 4),), _SAMPLES[0]),
        Sample(((1, 1, 3, 4),), _SAMPLES[1]),
        Sample(((1, 5, 5),), {**_SAMPLES[0], "ceil_mode": True}),
    ),
    "max_pool3d": (Sample(((1, 1, 2, 2, 3),), _SAMPLES[2]),),
    "max_pool_backward": (Sample(((1, 1, 2, 2), _PLACES), {"shape": (1, 1, 4, 4), **_SAMPLES[0]}),),
    "max_pool_gather": (Sample(((1, 1, 4, 4), _PLACES), _SAMPLES[0]),),
}
