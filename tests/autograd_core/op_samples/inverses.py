"""Samples of the ops of :mod:`autograd_core.ops.algebra.inverses`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_SQUARE = [[2.0, 0.5, 0.3], [1.0, 3.0, -0.2], [0.4, -1.0, 1.5]]

SAMPLES = {
    "inv_ex": (Sample((_SQUARE,)), Sample(([_SQUARE, _SQUARE],))),
    "det": (Sample((_SQUARE,)), Sample(([_SQUARE, [[1.0, 2, 3], [0, 1, 2], [2, 0, 1]]],))),
    "cofactors": (Sample((_SQUARE,)),),
    "slogdet": (Sample((_SQUARE,)), Sample(([_SQUARE, _SQUARE],))),
    "pinv": (
        Sample(((3, 2),)),
        Sample(((2, 2, 3),)),
        Sample(((2, 2),), {"hermitian": True}, symmetric=True),
    ),
    "lstsq": (Sample(((4, 2), (4, 3)), {"driver": "gelsd"}), Sample(((2, 3), (2, 2)))),
    "matrix_exp": (Sample(((2, 2),)), Sample(((2, 3, 3),))),
}
