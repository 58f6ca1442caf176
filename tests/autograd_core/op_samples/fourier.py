"""Samples of the ops of :mod:`autograd_core.ops.fourier`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "signal": (
        Sample(((3,),), {"size": (4,), "dim": (0,), "norm": "backward"}),
        Sample(((3, 4),), {"size": (3, 5), "dim": (0, 1), "norm": "ortho"}),
        Sample(((4, 2, 3),), {"size": (2, 6), "dim": (2, 0), "norm": "forward"}),
    ),
    "spectrum": (Sample(((4,),), {"shape": (3,), "size": (4,), "dim": (0,), "norm": "backward"}),),
}
