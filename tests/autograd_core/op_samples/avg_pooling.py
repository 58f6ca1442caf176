"""Samples of the ops of :mod:`autograd_core.ops.networks.avg_pooling`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_MEANS = {"ceil_mode": False, "count_include_pad": True, "divisor_override": None}

SAMPLES = {
    "avg_pool2d": (
        Sample(((1, 2, 4, 4),), {"kernel_size": (2, 2), "stride": (2, 1)}),
        Sample(
            ((1, 5, 4),),
            {
                "kernel_size": (2, 3),
                "stride": (2, 1),
                "padding": (1, 1),
                "ceil_mode": True,
                "count_include_pad": False,
            },
        ),
        Sample(((1, 3, 3),), {"kernel_size": (2, 2), "stride": (1, 1), "divisor_override": 3}),
    ),
    "avg_pool3d": (Sample(((1, 2, 3, 4),), {"kernel_size": (1, 2, 2), "stride": (1, 1, 2)}),),
    "avg_pool_backward": (
        Sample(
            ((1, 2, 2),),
            {
                "shape": (1, 4, 4),
                "kernel_size": (2, 2),
                "stride": (2, 2),
                "padding": (0, 0),
                **_MEANS,
            },
        ),
    ),
}
