"""Samples of the ops of :mod:`autograd_core.ops.shaping.convert`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "cast": (Sample(((3,),), {"target": np.dtype("float64"), "source": np.dtype("float64")}),),
}
