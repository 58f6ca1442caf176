"""Samples of the ops of :mod:`autograd_core.ops.algebra.decompositions`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_POSITIVE = [[3.0, 0.5, 0.2], [0.5, 2.0, -0.4], [0.2, -0.4, 1.0]]
_BATCH = [_POSITIVE, [[1.0, 0.0, 0.1], [0.0, 2.0, 0.3], [0.1, 0.3, 4.0]]]

SAMPLES = {
    "cholesky_ex": (
        Sample((_POSITIVE,), symmetric=True),
        Sample((_BATCH,), {"upper": True}, symmetric=True),
    ),
    "cholesky_old": (Sample((_POSITIVE,), symmetric=True),),
    "qr": (
        Sample(((4, 3),)),
        Sample(((2, 2, 3),)),
        Sample(([[1.0, 2.0], [0.5, -1.0]],), {"mode": "complete"}),
    ),
    "differences": (Sample(((3,),)), Sample(((2, 3),))),
    "eigh": (
        Sample((_POSITIVE,), symmetric=True),
        Sample((_BATCH,), {"UPLO": "U"}, symmetric=True),
    ),
    "svd": (
        Sample(((3, 3),), {"full_matrices": False}),
        Sample(((2, 4, 2),), {"full_matrices": False}),
        Sample(((2, 3),), {"full_matrices": False}),
    ),
}
