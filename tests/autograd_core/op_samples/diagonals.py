"""Samples of the ops of :mod:`autograd_core.ops.shaping.diagonals`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_MATRICES = (Sample(((3, 4),)), Sample(((2, 3, 3),), {"diagonal": -1}))
_PLANES = (
    Sample(((3, 4),)),
    Sample(((3, 2),), {"offset": -1}),
    Sample(((2, 3, 4),), {"offset": 1, "dim1": 0, "dim2": 2}),
)

SAMPLES = {
    "tril": _MATRICES,
    "triu": _MATRICES,
    "diagonal": _PLANES,
    "diagonal_backward": (
        Sample(((3,),), {"shape": (3, 4), "offset": 0, "dim1": 0, "dim2": 1}),
        Sample(((3, 2),), {"shape": (2, 3, 4), "offset": 1, "dim1": 0, "dim2": 2}),
    ),
    "diag_embed": (Sample(((2, 3),)), Sample(((2, 3),), {"offset": 1, "dim1": 0, "dim2": 2})),
    "diagonal_scatter": (Sample(((3, 3), (3,))), Sample(((3, 4), (3,)), {"offset": 1})),
    "trace": (Sample(((3, 4),)),),
}
