"""Samples of the ops of :mod:`autograd_core.ops.indices.index`."""

from __future__ import annotations

import numpy as np

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
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
}
