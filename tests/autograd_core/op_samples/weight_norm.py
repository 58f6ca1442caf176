"""Samples of the ops of :mod:`autograd_core.ops.networks.weight_norm`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "weight_norm": (
        Sample(((3, 2), (3, 1)), {"dim": 0}),
        Sample(((3, 2, 2), (1, 1, 2)), {"dim": 2}),
    ),
}
