"""Samples of the ops of :mod:`autograd_core.ops.algebra.reflectors`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "householder_product": (Sample(((3, 2), (2,))), Sample(((2, 3, 3), (2, 2)))),
    "ormqr": (
        Sample(((3, 2), (2,), (3, 2))),
        Sample(((3, 2), (2,), (2, 3)), {"left": False}),
        Sample(((2, 3, 2), (2, 2), (2, 3, 1)), {"transpose": True}),
    ),
}
