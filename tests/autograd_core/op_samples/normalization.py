"""Samples of the ops of :mod:`autograd_core.ops.networks.normalization`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "layer_norm": (
        Sample(((2, 3), (3,), (3,)), {"normalized_shape": (3,)}),
        Sample(((2, 3), (3,), None), {"normalized_shape": (3,)}),
        Sample(((2, 2, 2), None, None), {"normalized_shape": (2, 2), "eps": 0.1}),
    ),
}
