"""Samples of the ops of :mod:`autograd_core.ops.algebra.linalg`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "mm": (Sample(((2, 3), (3, 4))),),
    "bmm": (Sample(((2, 2, 3), (2, 3, 2))),),
    "mv": (Sample(((2, 3), (3,))),),
    "dot": (Sample(((3,), (3,))),),
    "addmm": (
        Sample(((4,), (2, 3), (3, 4))),
        Sample(((2, 1), (2, 3), (3, 4)), {"beta": 0.5, "alpha": 2}),
    ),
    "solve_matrix": (
        Sample(([[2.0, 0.5], [1.0, 3.0]], (2, 2))),
        Sample(([[2.0, 0.5], [1.0, 3.0]], (2,))),
        Sample(([[[2.0, 0.5], [1.0, 3.0]], [[4.0, 0.0], [1.0, -1.0]]], (2, 2))),
        Sample(([[2.0, 0.5], [1.0, 3.0]], (2, 2, 3))),
        Sample(([[2.0, 0.5], [1.0, 3.0]], (2, 3, 2)), {"left": False}),
    ),
}
