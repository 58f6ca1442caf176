"""Samples of the ops of :mod:`autograd_core.ops.reductions.sorting`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_MATRIX = [[1.0, 4.0, 2.5], [3.0, 0.5, -2.0]]
_ORDERS = (Sample((_MATRIX,)), Sample((_MATRIX,), {"dim": 0, "descending": True}))

SAMPLES = {
    "sort": _ORDERS,
    "sort_stable": _ORDERS,
    "topk": (Sample((_MATRIX,), {"k": 2}), Sample((_MATRIX,), {"k": 1, "dim": 0})),
}
