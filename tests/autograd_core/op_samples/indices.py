"""Samples of the ops in ``autograd_core/ops/indices``."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

_INDEX = np.array([2, 0, 2])
_TWO = np.array([2, 0])
_FLAT = np.array([4, 0, 4])
_MASK = np.array([[True, False, True], [False, True, True]])
_SCATTER_INDEX = np.array([[0, 2, 1], [1, 0, 0]])
_SMALL = np.array([[2, 0], [0, 1]])
_AT = {"dim": 1}
_REDUCTIONS = tuple(
    Sample(
        (
            [[1.5, -2.0, 0.5], [3.0, 0.7, -1.0]],
            [[2.0, 4.0, -1.5], [0.3, 2.5, -0.2]],
            _SCATTER_INDEX,
        ),
        {"dim": 1, "reduce": reduce, "include_self": include_self},
    )
    for reduce in ("sum", "prod", "mean", "amax", "amin")
    for include_self in (True, False)
)

SAMPLES = {
    # assign
    "copy": (Sample(((2, 3), (2, 3))), Sample(((2, 3), (3,)))),
    "fill": (Sample(((2, 3),), {"value": 2.5}),),
    "zero": (Sample(((2,),)),),
    "assigned": (Sample(((3, 2), (2,)), {"indices": (np.array([2, 0]),)}),),
    # index
    "alias": (Sample(((2, 3),)),),
    "select": (Sample(((3, 2),), {"dim": 0, "index": -1}),),
    "select_backward": (Sample(((2,),), {"shape": (3, 2), "dim": 0, "index": 1}),),
    "slice": (Sample(((5, 2),), {"dim": 0, "start": 1, "end": 4, "step": 2}),),
    "slice_backward": (
        Sample(((2, 2),), {"shape": (5, 2), "dim": 0, "start": 1, "end": 4, "step": 2}),
    ),
    "index": (Sample(((4, 2),), {"indices": (np.array([0, 2, 0]),)}),),
    "index_put": (Sample(((3, 2),), {"shape": (4, 2), "indices": (np.array([0, 2, 0]),)}),),
    "embedding": (Sample(((4, 2), np.array([[0, 2], [2, 1]]))),),
    "embedding_backward": (
        Sample(((2, 2, 2), np.array([[0, 2], [2, 1]])), {"shape": (4, 2)}),
        Sample(((2, 2, 2), np.array([[0, 2], [2, 1]])), {"shape": (4, 2), "padding_idx": 2}),
    ),
    "embedding_rows": (Sample(((4, 2), np.array([[0, 2], [2, 1]])), {"padding_idx": 2}),),
    # index_along
    "index_select": (Sample(((3, 2), _INDEX), {"dim": 0}), Sample(((2, 3), _INDEX), {"dim": 1})),
    "add_slices": (Sample(((3, 2), _INDEX), {"shape": (4, 2), "dim": 0}),),
    "index_add": (
        Sample(((3, 2), (3, 2), _INDEX), {"dim": 0}),
        Sample(((2, 3), (2, 2), _TWO), {"dim": 1, "alpha": 2}),
    ),
    "index_copy": (Sample(((3, 2), (2, 2), _TWO), {"dim": 0}),),
    "index_fill": (Sample(((3, 2), _TWO), {"dim": 0, "value": 0.5}),),
    "index_fill_tensor": (Sample(((3, 2), (), _TWO), {"dim": 0}),),
    "index_reduce": tuple(
        Sample(
            ([[1.5, -2.0], [3.0, 0.7]], [[2.0, 4.0], [0.3, 2.5], [1.0, -3.0]], np.array([1, 0, 1])),
            {"dim": 0, "reduce": reduce, "include_self": include_self},
        )
        for reduce in ("prod", "mean", "amax", "amin")
        for include_self in (True, False)
    ),
    "index_put_added": (Sample(((3, 2), (2,)), {"indices": (np.array([2, 0, 2]),)}),),
    "take": (Sample(((2, 3), _FLAT)),),
    "put_flat": (Sample(((3,), _FLAT), {"shape": (2, 3)}),),
    "put": (
        Sample(((2, 3), (2,), np.array([4, 0]))),
        Sample(((2, 3), (3,), _FLAT), {"accumulate": True}),
    ),
    # masking
    "masked_fill": (Sample(((2, 3), _MASK), {"value": 0.5}), Sample(((3,), _MASK), {"value": 1})),
    "masked_fill_tensor": (Sample(((2, 3), _MASK, ())), Sample(((3,), _MASK, ()))),
    "masked_select": (Sample(((2, 3), _MASK)), Sample(((3,), _MASK)), Sample(((2, 3), _MASK[0]))),
    "place": (Sample(((4,), _MASK), {"shape": (2, 3)}),),
    "masked_scatter": (Sample(((2, 3), _MASK, (5,))), Sample(((3,), _MASK, (2, 2)))),
    # scatter
    "gather": (Sample(((2, 3), _SCATTER_INDEX), _AT), Sample(((3, 3), _SMALL), {"dim": 0})),
    "scatter_zeros": (Sample(((2, 3), _SCATTER_INDEX), {"shape": (2, 3), **_AT}),),
    "scatter": (Sample(((2, 3), (2, 2), _SMALL), _AT), Sample(((2, 3), (2, 3), _SMALL), _AT)),
    "scatter_number": (Sample(((2, 3), _SMALL), {"value": 0.5, **_AT}),),
    "scatter_add": (
        Sample(((2, 3), (2, 3), _SCATTER_INDEX), _AT),
        Sample(((2, 3), (2, 3), _SMALL), _AT),
    ),
    "scatter_reduce": _REDUCTIONS,
}
