"""Samples of the ops of :mod:`autograd_core.ops.shaping.shuffle`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "pixel_shuffle": (Sample(((2, 8, 1, 2),), {"upscale_factor": 2}),),
    "pixel_unshuffle": (Sample(((2, 2, 2, 4),), {"downscale_factor": 2}),),
    "channel_shuffle": (Sample(((1, 6, 2),), {"groups": 2}),),
}
