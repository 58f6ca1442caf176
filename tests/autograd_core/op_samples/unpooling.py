"""Samples of the ops of :mod:`autograd_core.ops.networks.unpooling`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_ADAPTIVE = (Sample(((1, 2, 5, 4),), {"output_size": (2, 3)}),)
_INDICES = np.array([[3, 0], [9, 6]])

SAMPLES = {
    "adaptive_max_pool2d": _ADAPTIVE,
    "adaptive_max_pool3d": (Sample(((1, 2, 3, 4),), {"output_size": (1, 2, 2)}),),
    "at_indices": (Sample(((1, 2, 2), _INDICES[None]), {"shape": (1, 3, 4), "dims": 2}),),
    "from_indices": (Sample(((1, 3, 4), _INDICES[None]), {"dims": 2}),),
    "max_unpool2d": (Sample(((1, 2, 2), _INDICES[None]), {"output_size": (3, 4)}),),
    "max_unpool3d": (Sample(((1, 1, 2, 2), _INDICES[None, None]), {"output_size": (1, 3, 4)}),),
}
