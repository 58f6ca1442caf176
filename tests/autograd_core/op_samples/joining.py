"""Samples of the ops of :mod:`autograd_core.ops.shaping.joining`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "cat": (Sample(((2, 3), (4, 3))), Sample(((2, 3), (2, 1)), {"dim": 1})),
    "stack": (Sample(((2, 3), (2, 3)), {"dim": 1}),),
    "unbind": (Sample(((3, 2),)), Sample(((3, 2),), {"dim": 1}), Sample(((3,),))),
    "split_size": (Sample(((5, 2),), {"split_size": 2}),),
    "split_with_sizes": (Sample(((5, 2),), {"split_sizes": (2, 3)}),),
}
