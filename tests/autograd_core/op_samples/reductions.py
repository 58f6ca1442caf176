"""Samples of the ops in ``autograd_core/ops/reductions``."""

from __future__ import annotations

import math

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_ONE_WAY = (Sample(((2, 3),), {"dim": 1}), Sample(((2, 3),), {"dim": 0}))
_ZEROS = [[2.0, 0.0, 3.0], [0.5, 0.0, 0.0], [1.0, -2.0, 0.5]]
_PRODUCTS = (
    Sample(([[2.0, -1.0, 3.0]],), {"dim": 1}),
    Sample((_ZEROS,), {"dim": 1}),
    Sample((_ZEROS,), {"dim": 0}),
)
_MATRIX = [[1.0, 4.0, 2.5], [3.0, 0.5, -2.0]]
_APART = ([[1.0, 4.0], [3.0, 0.5]], [2.5, -1.0])
_POINTS = ([[1.0, 4.0], [3.0, 0.5], [-1.0, 0.2]], [[2.5, -1.0], [0.3, 0.1]])
_ORDER_STATISTICS_MATRIX = [[1.0, 4.0, 2.5], [3.0, 0.5, -2.0]]
_SORTING_MATRIX = [[1.0, 4.0, 2.5], [3.0, 0.5, -2.0]]
_ORDERS = (Sample((_SORTING_MATRIX,)), Sample((_SORTING_MATRIX,), {"dim": 0, "descending": True}))
_STATISTICS_MATRIX = [[1.0, 4.0, 2.5], [3.0, 0.5, -2.0]]
_SPREADS = (
    Sample((_STATISTICS_MATRIX,)),
    Sample((_STATISTICS_MATRIX,), {"dim": 1, "correction": 0}),
    Sample((_STATISTICS_MATRIX,), {"dim": (0, 1), "keepdim": True}),
)

SAMPLES = {
    # cumulative
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
    # distance
    "dist": tuple(Sample(_APART, {"p": p}) for p in (2.0, 1.0, 3.0)),
    "renorm": (
        Sample((_MATRIX,), {"p": 2.0, "dim": 0, "maxnorm": 4.0}),
        Sample((_MATRIX,), {"p": 1.0, "dim": 1, "maxnorm": 4.2}),
    ),
    "cdist": (
        *(Sample(_POINTS, {"p": p}) for p in (2.0, 1.0, 3.0, math.inf)),
        Sample((_POINTS[0], [_POINTS[1], _POINTS[1]])),
    ),
    "pdist": tuple(Sample((_POINTS[0],), {"p": p}) for p in (2.0, 1.0, 3.0, math.inf)),
    # norms
    "vector_norm": (
        Sample(((2, 3),)),
        Sample(((2, 3),), {"ord": 1, "dim": 1}),
        Sample(((2, 3),), {"ord": 3, "dim": 0, "keepdim": True}),
        Sample(((2, 3),), {"ord": 1.5, "dim": (0, 1)}),
        Sample(((2, 3),), {"ord": math.inf, "dim": -1}),
        Sample(((2, 3),), {"ord": -math.inf}),
    ),
    "cross": (Sample(((2, 3), (2, 3))), Sample(((3, 2), (3, 1)), {"dim": 0})),
    "vdot": (Sample(((3,), (3,))),),
    # order_statistics
    "median_all": (Sample((_ORDER_STATISTICS_MATRIX,)),),
    "nanmedian_all": (Sample((_ORDER_STATISTICS_MATRIX,)),),
    "kthvalue": (Sample((_ORDER_STATISTICS_MATRIX,), {"k": 2, "dim": 1}),),
    "median_dim": (Sample((_ORDER_STATISTICS_MATRIX,), {"dim": 1}),),
    "nanmedian_dim": (Sample((_ORDER_STATISTICS_MATRIX,), {"dim": 1}),),
    "mode": (Sample(([[1.0, 4.0, 2.5]],), {"dim": 0}),),
    # reduce
    "sum_all": (Sample(((2, 3),)), Sample(((),))),
    "sum_dim": (
        Sample(((2, 3),), {"dim": 1}),
        Sample(((2, 3, 2),), {"dim": (0, -1), "keepdim": True}),
    ),
    "mean_all": (Sample(((2, 3),)),),
    "mean_dim": (
        Sample(((2, 3),), {"dim": 0}),
        Sample(((2, 3),), {"dim": (0, 1), "keepdim": True}),
    ),
    "max_all": (Sample(([[1.0, 4.0], [2.0, 3.0]],)),),
    "min_all": (Sample(([[1.0, 4.0], [2.0, 3.0]],)),),
    "max_dim": (Sample(([[1.0, 4.0], [3.0, 2.0]],), {"dim": 1}),),
    "min_dim": (Sample(([[1.0, 4.0], [3.0, 2.0]],), {"dim": 1}),),
    "put_along": (Sample(((2,), np.array([1, 0])), {"shape": (2, 3), "dim": 1, "keepdim": False}),),
    "take_along": (Sample(((2, 3), np.array([1, 0])), {"dim": 1, "keepdim": False}),),
    # softmax
    "_log_softmax": (Sample(((2, 3),), {"dim": 1}), Sample(((2, 3),), {"dim": 0})),
    "_softmax": (Sample(((2, 3),), {"dim": 1}), Sample(((2, 3),), {"dim": 0})),
    # sorting
    "sort": _ORDERS,
    "sort_stable": _ORDERS,
    "topk": (Sample((_SORTING_MATRIX,), {"k": 2}), Sample((_SORTING_MATRIX,), {"k": 1, "dim": 0})),
    # statistics
    "amax": (
        Sample((_STATISTICS_MATRIX,)),
        Sample((_STATISTICS_MATRIX,), {"dim": (0, 1), "keepdim": True}),
    ),
    "amin": (Sample((_STATISTICS_MATRIX,)), Sample((_STATISTICS_MATRIX,), {"dim": 1})),
    "aminmax": (
        Sample((_STATISTICS_MATRIX,)),
        Sample((_STATISTICS_MATRIX,), {"dim": 1, "keepdim": True}),
    ),
    "nansum": (Sample((_STATISTICS_MATRIX,)), Sample((_STATISTICS_MATRIX,), {"dim": 1})),
    "var": _SPREADS,
    "std": _SPREADS,
    "var_mean": _SPREADS,
    "std_mean": _SPREADS,
    "logsumexp": (
        Sample((_STATISTICS_MATRIX,), {"dim": 1}),
        Sample((_STATISTICS_MATRIX,), {"dim": (0, 1), "keepdim": True}),
    ),
}
