"""Samples of the ops of :mod:`autograd_core.ops.algebra.products`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_SCALED = {"beta": 0.5, "alpha": 2}

SAMPLES = {
    "addmv": (Sample(((2,), (2, 3), (3,))), Sample(((1,), (2, 3), (3,)), _SCALED)),
    "addr": (Sample(((2, 3), (2,), (3,))), Sample(((3,), (2,), (3,)), _SCALED)),
    "baddbmm": (
        Sample(((2, 2, 4), (2, 2, 3), (2, 3, 4))),
        Sample(((4,), (2, 2, 3), (2, 3, 4)), _SCALED),
    ),
    "addbmm": (
        Sample(((2, 4), (2, 2, 3), (2, 3, 4))),
        Sample(((4,), (2, 2, 3), (2, 3, 4)), _SCALED),
    ),
}
