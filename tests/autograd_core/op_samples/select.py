"""Samples of the ops of :mod:`autograd_core.ops.pointwise.select`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_THREE = (Sample(((2, 3), (2, 3), (2, 3))), Sample(((2, 3), (3,), (2, 1)), {"value": 0.5}))
_BOUNDS = (
    Sample(([[-2.0], [0.5]], [-1.0, 0.0, 0.7], 0.6)),
    Sample(([-2.0, 0.5, 3.0], [-1.0, 1.0, 0.0], None)),
    Sample(([-2.0, 0.5, 3.0], None, [1.0, 0.0, 5.0])),
)

SAMPLES = {
    "clamp_max": (Sample(([-2.0, 0.5, 3.0],), {"max": 1.0}),),
    "clamp_min": (Sample(([-2.0, 0.5, 3.0],), {"min": 1.0}),),
    "clamp_tensors": _BOUNDS,
    "lerp_number": (Sample(((2, 3), (3,)), {"weight": 0.3}),),
    "lerp_tensor": (Sample(((2, 3), (3,), (2, 1))), Sample(((2,), (2,), (2,)))),
    "addcmul": _THREE,
    "addcdiv": (
        Sample(((2, 3), (2, 3), [[0.5], [2.0]])),
        Sample(((2,), (2,), [-0.5, 2.0]), {"value": 0.5}),
    ),
    "fill_tensor": (Sample(((2, 3), ())),),
    "rsub_tensor": (Sample(((2, 3), (3,))), Sample(((2, 1), (2, 3)), {"alpha": 2})),
}
