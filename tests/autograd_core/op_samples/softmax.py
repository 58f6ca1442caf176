"""Samples of the ops of :mod:`autograd_core.ops.reductions.softmax`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "_log_softmax": (Sample(((2, 3),), {"dim": 1}), Sample(((2, 3),), {"dim": 0})),
    "_softmax": (Sample(((2, 3),), {"dim": 1}), Sample(((2, 3),), {"dim": 0})),
}
