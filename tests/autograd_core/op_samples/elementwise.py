"""Samples of the ops of :mod:`autograd_core.ops.pointwise.elementwise`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

PAIR = (Sample(((2, 3), (2, 3))), Sample(((2, 3), (3,))), Sample(((), (2, 1))))
ONE = (Sample(((3,),)), Sample(((2, 2),)), Sample(((),)))
POSITIVE = (Sample(([0.5, 1.0, 2.5],)), Sample(([[3.0, 0.25]],)))

SAMPLES = {
    "add_scaled": (Sample(((2, 2), (2,)), {"alpha": 3}),),
    "sub_scaled": (Sample(((2, 2), (2,)), {"alpha": 3}),),
    "rsub": (Sample(((2, 3),), {"other": 2.5}),),
    "div": (Sample(((2, 3), [1.0, 2.0, -4.0])), Sample(((), [[0.5], [2.0]]))),
    "mul_number": (Sample(((2, 3),), {"other": 2.5}),),
    "div_number": (Sample(((2, 3),), {"other": 2.5}),),
    "reciprocal": POSITIVE,
    "pow_number": (
        Sample(([0.5, 2.0, -3.0],), {"exponent": 2}),
        Sample(([0.5, 2.0],), {"exponent": -1.5}),
        Sample(([0.5, 2.0],), {"exponent": 0}),
    ),
    "pow_tensor": (
        Sample(([0.5, 2.0, 3.0], [2.0, -1.0, 0.5])),
        Sample(([[0.5], [2.0]], [1.5, 3.0, -2.0])),
    ),
    "pow_base": (Sample(([0.5, 2.0, -3.0],), {"self": 2.5}),),
    "log": POSITIVE,
    "sqrt": POSITIVE,
    "relu": (Sample(([-1.0, 0.5, 2.0],)), Sample(([[-0.5, 0.25]],))),
    "abs": (Sample(([-1.5, 2.0],)),),
    "sign": (Sample(([-1.5, 2.0],)),),
    "sgn": (Sample(([-1.5, 2.0],)),),
    "clamp": (
        Sample(([-2.0, 0.5, 3.0],), {"min": -1, "max": 1}),
        Sample(([-2.0, 1.0],), {"min": 0}),
    ),
    "where": (Sample(([True, False, True], (3,), (2, 3))),),
}
