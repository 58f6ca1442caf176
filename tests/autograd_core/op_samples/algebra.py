"""Samples of the ops in ``autograd_core/ops/algebra``."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_POSITIVE = [[3.0, 0.5, 0.2], [0.5, 2.0, -0.4], [0.2, -0.4, 1.0]]
_BATCH = [_POSITIVE, [[1.0, 0.0, 0.1], [0.0, 2.0, 0.3], [0.1, 0.3, 4.0]]]
_SQUARE = [[2.0, 0.5, 0.3], [1.0, 3.0, -0.2], [0.4, -1.0, 1.5]]
_LU_SQUARE = [[2.0, 0.5, 0.3], [1.0, 3.0, -0.2], [0.4, -1.0, 1.5]]
_PIVOTS = np.array([2, 2, 3], np.int32)
_SCALED = {"beta": 0.5, "alpha": 2}
_TRIANGLE = [[2.0, 0.5, 0.3], [1.0, 3.0, -0.2], [0.4, -1.0, 1.5]]

SAMPLES = {
    # decompositions
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
    # inverses
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
    # linalg
    "mm": (Sample(((2, 3), (3, 4))),),
    "bmm": (Sample(((2, 2, 3), (2, 3, 2))),),
    "mv": (Sample(((2, 3), (3,))),),
    "dot": (Sample(((3,), (3,))),),
    "addmm": (
        Sample(((4,), (2, 3), (3, 4))),
        Sample(((2, 1), (2, 3), (3, 4)), {"beta": 0.5, "alpha": 2}),
    ),
    "solve_matrix": (
        Sample(([[2.0, 0.5], [1.0, 3.0]], (2, 2))),
        Sample(([[2.0, 0.5], [1.0, 3.0]], (2,))),
        Sample(([[[2.0, 0.5], [1.0, 3.0]], [[4.0, 0.0], [1.0, -1.0]]], (2, 2))),
        Sample(([[2.0, 0.5], [1.0, 3.0]], (2, 2, 3))),
        Sample(([[2.0, 0.5], [1.0, 3.0]], (2, 3, 2)), {"left": False}),
    ),
    # lu
    "lu_factor_ex": (Sample((_LU_SQUARE,)), Sample(((2, 2, 3),)), Sample(((3, 2),))),
    "lu": (Sample((_LU_SQUARE,)), Sample(((2, 2, 3),)), Sample(((3, 2),))),
    "lu_unpack": (
        Sample((_LU_SQUARE, _PIVOTS)),
        Sample(((2, 3), np.array([2, 2], np.int32))),
        Sample(((3, 2), np.array([3, 2], np.int32))),
    ),
    "lu_solve": (
        Sample((_LU_SQUARE, _PIVOTS, (3, 2))),
        Sample((_LU_SQUARE, _PIVOTS, (2, 3, 1)), {"adjoint": True}),
        Sample((_LU_SQUARE, _PIVOTS, (2, 3)), {"left": False}),
    ),
    # products
    "addmv": (Sample(((2,), (2, 3), (3,))), Sample(((1,), (2, 3), (3,)), _SCALED)),
    "addr": (Sample(((2, 3), (2,), (3,))), Sample(((3,), (2,), (3,)), _SCALED)),
    "baddbmm": (
        Sample(((2, 2, 4), (2, 2, 3), (2, 3, 4))),
        Sample(((4,), (2, 2, 3), (2, 3, 4)), _SCALED),
    ),
    "addbmm": (
        Sample(((2, 4), (2, 2, 3), (2, 3, 4))),
        Sample(((4,), (2, 2, 3), (2, 3, 4)), _SCALED),
    ),
    # reflectors
    "householder_product": (Sample(((3, 2), (2,))), Sample(((2, 3, 3), (2, 2)))),
    "ormqr": (
        Sample(((3, 2), (2,), (3, 2))),
        Sample(((3, 2), (2,), (2, 3)), {"left": False}),
        Sample(((2, 3, 2), (2, 2), (2, 3, 1)), {"transpose": True}),
    ),
    # triangular
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
