"""Samples of the ops of :mod:`autograd_core.ops.networks.places`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_ADAPTIVE = (Sample(((1, 2, 5, 4),), {"output_size": (2, 3)}),)
_PLACES = np.array([[3, 0], [9, 6]])
_WINDOWS = {"kernel_size": (2, 2), "dilation": (1, 1), "padding": (1, 0), "stride": (1, 2)}

SAMPLES = {
    "adaptive_max_pool2d": _ADAPTIVE,
    "adaptive_max_pool3d": (Sample(((1, 2, 3, 4),), {"output_size": (1, 2, 2)}),),
    "at_indices": (Sample(((1, 2, 2), _PLACES[None]), {"shape": (1, 3, 4), "dims": 2}),),
    "from_indices": (Sample(((1, 3, 4), _PLACES[None]), {"dims": 2}),),
    "max_unpool2d": (Sample(((1, 2, 2), _PLACES[None]), {"output_size": (3, 4)}),),
    "max_unpool3d": (Sample(((1, 1, 2, 2), _PLACES[None, None]), {"output_size": (1, 3, 4)}),),
    "im2col": (Sample(((1, 2, 3, 4),), _WINDOWS), Sample(((1, 3, 4),), _WINDOWS)),
    "col2im": (Sample(((1, 8, 8),), {"output_size": (3, 4), **_WINDOWS}),),
}
