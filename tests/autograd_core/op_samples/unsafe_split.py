"""Samples of the ops of :mod:`autograd_core.ops.shaping.unsafe_split`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "unsafe_split": (
        Sample(((5, 2),), {"split_size": 2}),
        Sample(((2, 4),), {"split_size": 2, "dim": 1}),
    ),
}
