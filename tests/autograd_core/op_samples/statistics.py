"""Samples of the ops of :mod:`autograd_core.ops.reductions.statistics`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_MATRIX = [[1.0, 4.0, 2.5], [3.0, 0.5, -2.0]]
_SPREADS = (
    Sample((_MATRIX,)),
    Sample((_MATRIX,), {"dim": 1, "correction": 0}),
    Sample((_MATRIX,), {"dim": (0, 1), "keepdim": True}),
)

SAMPLES = {
    "amax": (Sample((_MATRIX,)), Sample((_MATRIX,), {"dim": (0, 1), "keepdim": True})),
    "amin": (Sample((_MATRIX,)), Sample((_MATRIX,), {"dim": 1})),
    "aminmax": (Sample((_MATRIX,)), Sample((_MATRIX,), {"dim": 1, "keepdim": True})),
    "nansum": (Sample((_MATRIX,)), Sample((_MATRIX,), {"dim": 1})),
    "var": _SPREADS,
    "std": _SPREADS,
    "var_mean": _SPREADS,
    "std_mean": _SPREADS,
    "logsumexp": (
        Sample((_MATRIX,), {"dim": 1}),
        Sample((_MATRIX,), {"dim": (0, 1), "keepdim": True}),
    ),
}
