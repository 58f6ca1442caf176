"""Samples of the ops of :mod:`autograd_core.ops.shaping.strided`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

SAMPLES = {
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
}  # fmt: skip
