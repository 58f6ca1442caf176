"""Samples of the ops of :mod:`autograd_core.ops.algebra.triangular`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_TRIANGLE = [[2.0, 0.5, 0.3], [1.0, 3.0, -0.2], [0.4, -1.0, 1.5]]

SAMPLES = {
    "solve_triangular": (
        Sample((_TRIANGLE, (3, 2)), {"upper": True}),
        Sample((_TRIANGLE, (2, 2, 3)), {"upper": False, "left": False}),
        Sample((_TRIANGLE, (3, 2)), {"upper": False, "unitriangular": True}),
    ),
    "triangular_solve": (
        Sample(((3, 2), _TRIANGLE)),
        Sample(((3, 2), _TRIANGLE), {"upper": False, "transpose": True}),
    ),
    "cholesky_solve": (
        Sample(((3, 2), _TRIANGLE)),
        Sample(((2, 3, 1), _TRIANGLE), {"upper": True}),
    ),
    "cholesky_inverse": (Sample((_TRIANGLE,)), Sample(([_TRIANGLE, _TRIANGLE],), {"upper": True})),
}
