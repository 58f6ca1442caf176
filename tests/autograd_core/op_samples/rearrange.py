"""Samples of the ops of :mod:`autograd_core.ops.shaping.rearrange`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
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
}
