"""Samples of the ops of :mod:`autograd_core.ops.shaping.shape`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
    "view": (Sample(((2, 3),), {"size": (3, 2)}),),
    "unsafe_view": (Sample(((2, 3),), {"size": (6,)}),),
    "contiguous_clone": (Sample(((2, 3),)),),
    "clone": (Sample(((2, 3),)),),
    "reshape_alias": (Sample(((2, 3),), {"size": (3, 2)}),),
    "transpose": (Sample(((2, 3, 4),), {"dim0": 0, "dim1": -1}),),
    "t": (Sample(((2, 3),)),),
    "permute": (Sample(((2, 3, 4),), {"dims": (2, 0, 1)}),),
    "expand": (Sample(((3, 1),), {"size": (2, 3, 4)}),),
    "sum_to": (Sample(((2, 3, 4),), {"shape": (3, 1)}),),
    "unsqueeze": (Sample(((2, 3),), {"dim": 1}),),
    "squeeze_dim": (Sample(((2, 1, 3),), {"dim": 1}), Sample(((2, 3),), {"dim": 0})),
    "squeeze_result": (Sample(((2, 1, 3),), {"dim": 1}),),
    "squeeze_all": (Sample(((2, 1, 3, 1),)),),
}
