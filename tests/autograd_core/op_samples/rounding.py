"""Samples of the ops of :mod:`autograd_core.ops.pointwise.rounding`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

FRACTIONS = (Sample(([0.3, -1.6, 2.2],)),)
_PAIR = (Sample(([1.5, -2.25, 7.0], [0.5, 0.75, -2.0])), Sample(([[1.5], [-7.25]], [2.0, 0.75])))
_ODD_PAIR = (Sample(([1.6, -2.3, 7.0], [0.7, 0.9, -3.0])), Sample(([[1.6], [-7.3]], [2.0, 0.9])))

SAMPLES = {
    "floor": FRACTIONS,
    "ceil": FRACTIONS,
    "trunc": FRACTIONS,
    "round": FRACTIONS,
    "round_decimals": (Sample(([0.333, -1.666],), {"decimals": 2}),),
    "frac": FRACTIONS,
    "fmod": _ODD_PAIR,
    "fmod_number": (Sample(([1.6, -2.3],), {"other": 0.7}),),
    "remainder": _ODD_PAIR,
    "remainder_number": (Sample(([1.6, -2.3],), {"other": 0.7}),),
    "div_rounded": (
        Sample(([1.6, -2.3, 7.0], [0.7, 0.9, -3.0]), {"rounding_mode": "floor"}),
        Sample(([[1.6], [-7.3]], [2.0, 0.9]), {"rounding_mode": "trunc"}),
    ),
    "copysign": _PAIR,
    "copysign_number": (Sample(([1.6, -2.3],), {"other": -1.0}),),
    "nan_to_num": (Sample(([1.5, -2.0],)), Sample(([1.5, -2.0],), {"nan": 1.0})),
    "frexp": (Sample(([1.5, -7.3],)),),
    "nextafter": _PAIR,
}
