"""Samples of the ops in ``autograd_core/ops/shaping``."""

from __future__ import annotations

import numpy as np

from autograd_core.op import OPS
from tests.autograd_core.op_samples import indices
from tests.autograd_core.op_samples.sample import Sample

_MATRICES = (Sample(((3, 4),)), Sample(((2, 3, 3),), {"diagonal": -1}))
_PLANES = (
    Sample(((3, 4),)),
    Sample(((3, 2),), {"offset": -1}),
    Sample(((2, 3, 4),), {"offset": 1, "dim1": 0, "dim2": 2}),
)

SAMPLES = {
    # convert
    "cast": (Sample(((3,),), {"target": np.dtype("float64"), "source": np.dtype("float64")}),),
    # diagonals
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
    # joining
    "cat": (Sample(((2, 3), (4, 3))), Sample(((2, 3), (2, 1)), {"dim": 1})),
    "stack": (Sample(((2, 3), (2, 3)), {"dim": 1}),),
    "unbind": (Sample(((3, 2),)), Sample(((3, 2),), {"dim": 1}), Sample(((3,),))),
    "split_size": (Sample(((5, 2),), {"split_size": 2}),),
    "split_with_sizes": (Sample(((5, 2),), {"split_sizes": (2, 3)}),),
    # rearrange
    "flip": (Sample(((2, 3),), {"dims": (0, 1)}), Sample(((2, 3),), {"dims": (-1,)})),
    "roll": (
        Sample(((2, 3),), {"shifts": (1, -1), "dims": (0, 1)}),
        Sample(((2, 3),), {"shifts": (1,), "dims": ()}),
    ),
    "rot90": (Sample(((2, 3),)), Sample(((2, 3, 2),), {"k": -1, "dims": (1, 2)})),
    "repeat": (Sample(((2, 3),), {"repeats": (2, 2)}), Sample(((3,),), {"repeats": (2, 1, 2)})),
    "constant_pad_nd": (
        Sample(((2, 3),), {"pad": (1, 2)}),
        Sample(((2, 3),), {"pad": (1, -1, 0, 2), "value": 0.5}),
    ),
    "unfold": (Sample(((2, 5),), {"dimension": 1, "size": 3, "step": 1}),),
    "unfold_backward": (Sample(((2, 3, 3),), {"shape": (2, 5), "dim": 1, "size": 3, "step": 1}),),
    "squeeze_dims": (Sample(((1, 2, 1),), {"dims": (0, 2)}), Sample(((1, 2),), {"dims": (0, 1)})),
    "select_scatter": (Sample(((2, 3), (2,)), {"dim": 1, "index": -1}),),
    "slice_scatter": (
        Sample(((5, 3), (2, 3)), {"start": 1, "end": 5, "step": 2}),
        Sample(((2,), (2,))),
    ),
    "block_diag": (Sample(((2, 3), (3,), ())),),
    # shape
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
    # shuffle
    "pixel_shuffle": (Sample(((2, 8, 1, 2),), {"upscale_factor": 2}),),
    "pixel_unshuffle": (Sample(((2, 2, 2, 4),), {"downscale_factor": 2}),),
    "channel_shuffle": (Sample(((1, 6, 2),), {"groups": 2}),),
    # strided
    "as_strided": (
        Sample(((2, 3),), {"size": (2, 2), "stride": (1, 2), "storage_offset": 1}),
        Sample(((2, 3),), {"size": (2, 2), "stride": (1, 1)}),
    ),
    "as_strided_backward": (
        Sample(((2, 2),), {"shape": (2, 3), "size": (2, 2), "stride": (1, 1), "storage_offset": 0}),
        Sample(
            ((2, 2),),
            {"shape": (2, 3), "size": (2, 2), "stride": (1, 3), "storage_offset": 1,
             "self_stride": (1, 2)},
        ),
        Sample(
            ((2, 2),),
            {"shape": (2,), "size": (2, 2), "stride": (1, 2), "storage_offset": -1,
             "self_stride": (2,)},
        ),
    ),
    "as_strided_scatter": (
        Sample(((2, 3), (2, 2)), {"size": (2, 2), "stride": (1, 2)}),
        Sample(((2, 3), (2,)), {"size": (2,), "stride": (2,), "storage_offset": 1,
                                "self_stride": (1, 2)}),
    ),
    # unsafe_split
    "unsafe_split": (
        Sample(((5, 2),), {"split_size": 2}),
        Sample(((2, 4),), {"split_size": 2, "dim": 1}),
    ),
}  # fmt: skip
# copies: those of the views
_VIEWS = {**indices.SAMPLES, **SAMPLES}
COPIES = [name for name in OPS if name.endswith("_copy") and name not in _VIEWS]
SAMPLES |= {name: _VIEWS[name.removesuffix("_copy")] for name in COPIES}
