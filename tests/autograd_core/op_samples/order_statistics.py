"""Samples of the ops of :mod:`autograd_core.ops.reductions.order_statistics`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_MATRIX = [[1.0, 4.0, 2.5], [3.0, 0.5, -2.0]]

SAMPLES = {
    "median_all": (Sample((_MATRIX,)),),
    "nanmedian_all": (Sample((_MATRIX,)),),
    "kthvalue": (Sample((_MATRIX,), {"k": 2, "dim": 1}),),
    "median_dim": (Sample((_MATRIX,), {"dim": 1}),),
    "nanmedian_dim": (Sample((_MATRIX,), {"dim": 1}),),
    "mode": (Sample(([[1.0, 4.0, 2.5]],), {"dim": 0}),),
}
