"""Samples of the ops of :mod:`autograd_core.ops.reductions.cumulative`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_ONE_WAY = (Sample(((2, 3),), {"dim": 1}), Sample(((2, 3),), {"dim": 0}))
_ZEROS = [[2.0, 0.0, 3.0], [0.5, 0.0, 0.0], [1.0, -2.0, 0.5]]
_PRODUCTS = (
    Sample(([[2.0, -1.0, 3.0]],), {"dim": 1}),
    Sample((_ZEROS,), {"dim": 1}),
    Sample((_ZEROS,), {"dim": 0}),
)

SAMPLES = {
    "cumsum": _ONE_WAY,
    "cumprod": _PRODUCTS,
    "prod_all": (
        Sample(((2, 3),)),
        Sample(([[2.0, 0.0], [3.0, 0.5]],)),
        Sample(([0.0, 0.0, 1.0],)),
    ),
    "prod_dim": _PRODUCTS,
    "cummax": (Sample(([[1.0, 3.0, 2.0, 4.0]],), {"dim": 1}),),
    "cummin": (Sample(([[3.0, 1.0, 2.0, 0.5]],), {"dim": 1}),),
    "logcumsumexp": _ONE_WAY,
}
