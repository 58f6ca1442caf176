"""Samples of the ops of :mod:`autograd_core.ops.pointwise.bessel`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_ONE = (Sample(([-1.5, 0.3, 2.0],)), Sample(([[0.5], [1.25]],)))
_FRACTION = (Sample(([0.1, 0.5, 0.85],)),)

SAMPLES = {
    "entr": (Sample(([0.5, 1.0, 2.5],)),),
    "erfcx": _ONE,
    "i0e": _ONE,
    "i1e": _ONE,
    "log_ndtr": _ONE,
    "ndtri": _FRACTION,
    "xlog1py_tensor": (Sample(([0.5, 2.0], [1.5, 0.25])), Sample(([[0.5], [2.0]], [1.5, 0.25]))),
    "xlog1py_of_number": (Sample(([1.5, 0.25],), {"self": 2}),),
    "xlog1py_number": (Sample(([1.5, 0.25],), {"other": 2}),),
}
