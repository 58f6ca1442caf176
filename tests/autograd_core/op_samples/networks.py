"""Samples of the ops in ``autograd_core/ops/networks``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograd_core.op import OPS, Op
from autograd_core.ops.networks.resample import (
    Taps,
    _taps,
    antialiased,
    border,
    cubic,
    linear,
    mean_of_windows,
    nearest,
)
from tests.autograd_core.op_samples.sample import Sample

_CAUSAL = np.array([[0.0, -np.inf, -np.inf], [0.0, 0.5, -np.inf]])
_MEANS = {"ceil_mode": False, "count_include_pad": True, "divisor_override": None}
_STATS = np.array([0.5, -1.0, 0.2]), np.array([1.0, 2.0, 0.5])
_SAMPLES = (
    {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1},
    {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2), "groups": 1},
    {"stride": (1, 1), "padding": (1, 1), "dilation": (1, 1), "groups": 2},
    {"stride": (2,), "padding": (1,), "dilation": (1,), "groups": 1},
    {"stride": (1, 1, 2), "padding": (0, 1, 0), "dilation": (1, 1, 1), "groups": 1},
)
_IMAGE, _PLACES = (1, 2, 3, 4), [[[[-0.8, 0.35], [0.1, -0.45], [0.55, 0.9]]]]
_VOLUME, _SPOTS = (1, 1, 2, 3, 2), [[[[[-0.75, 0.3, 0.15], [0.1, -0.45, 0.8]]]]]
_GRID_SAMPLES = tuple(
    Sample((_IMAGE, _PLACES), {"mode": mode, "padding_mode": padding, "align_corners": align})
    for mode, padding, align in (
        ("bilinear", "zeros", False),
        ("bilinear", "reflection", True),
        ("bicubic", "border", False),
        ("nearest", "zeros", True),
    )
)
_ORDERED = {"mode": "bicubic", "padding_mode": "zeros", "align_corners": False, "orders": (0, 1)}
_WINDOWS = {"kernel_size": (2, 2), "dilation": (1, 1), "padding": (1, 0), "stride": (1, 2)}
_POOLING_SAMPLES = (
    {"kernel_size": (2, 2), "stride": (2, 2), "padding": (0, 0), "dilation": (1, 1)},
    {"kernel_size": (2, 3), "stride": (1, 2), "padding": (1, 1), "dilation": (1, 1)},
    {"kernel_size": (2, 1, 2), "stride": (1, 1, 2), "padding": (0, 0, 1), "dilation": (1, 1, 1)},
)
_POOLING_PLACES = np.array([[[[3, 0], [1, 2]]]], np.int16)
_MAPS: dict[str, Callable[[int, int], Taps]] = {
    "adaptive_avg": mean_of_windows,
    "reflection": lambda size, count: border(size, 1, 1, "reflect"),
    "replication": lambda size, count: border(size, 2, -1, "replicate"),
    "_aa": antialiased,
    "nearest": nearest,
    "linear": linear,
    "cubic": cubic,
}


def _resampled(op: Op) -> tuple[Sample, ...]:
    dims = int(op.node_name.partition("D")[0][-1])
    make = next(make for part, make in _MAPS.items() if part in op.name)
    maps = tuple(make(*sizes) for sizes in ((4, 5), (3, 2), (3, 3))[:dims])
    return (Sample(((1, *(4, 3, 3)[:dims]),), {"maps": maps}),)


_ADAPTIVE = (Sample(((1, 2, 5, 4),), {"output_size": (2, 3)}),)
_INDICES = np.array([[3, 0], [9, 6]])

SAMPLES = {
    # attention
    "safe_softmax": (Sample(((2, 3),), {"dim": 1}),),
    "attention": (
        Sample(((1, 2, 2, 3), (1, 2, 3, 3), (1, 2, 3, 4)), {"scale": 0.5}),
        Sample(((1, 1, 3, 2), (1, 1, 3, 2), (1, 1, 3, 2)), {"scale": 0.7, "is_causal": True}),
        Sample(((1, 1, 2, 3), (1, 1, 3, 3), (1, 1, 3, 2), _CAUSAL), {"scale": 1.0}),
    ),
    # avg_pooling
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
    # batch_norm
    "batch_norm": (
        Sample(((4, 3), (3,), (3,), None, None)),
        Sample(((2, 3, 2), None, None, None, None), {"eps": 0.1}),
        Sample(((2, 3, 2, 2), (3,), (3,), *_STATS), {"training": False}),
    ),
    "group_norm": (
        Sample(((2, 4, 3), (4,), (4,)), {"num_groups": 2}),
        Sample(((3, 4), None, None), {"num_groups": 1, "eps": 0.1}),
    ),
    # convolution
    "convolution": (
        Sample(((2, 2, 3, 3), (2, 2, 2, 2), (2,)), _SAMPLES[0]),
        Sample(((1, 1, 4, 4), (2, 1, 2, 2), None), _SAMPLES[1]),
        Sample(((1, 2, 2, 2), (2, 1, 2, 2), (2,)), _SAMPLES[2]),
        Sample(((1, 2, 4), (2, 2, 2), (2,)), _SAMPLES[3]),
        Sample(((1, 1, 2, 2, 3), (2, 1, 1, 2, 2), None), _SAMPLES[4]),
    ),
    "convolution_input": (
        Sample(((1, 2, 2, 2), (2, 1, 2, 2)), {"shape": (1, 1, 3, 3), **_SAMPLES[0]}),
        Sample(((1, 2, 3, 2), (2, 1, 2, 2)), {"shape": (1, 1, 4, 4), **_SAMPLES[1]}),
        Sample(((1, 2, 3, 3), (2, 1, 2, 2)), {"shape": (1, 2, 2, 2), **_SAMPLES[2]}),
    ),
    "convolution_weight": (
        Sample(((1, 2, 2, 2), (1, 1, 3, 3)), {"shape": (2, 1, 2, 2), **_SAMPLES[0]}),
        Sample(((1, 2, 3, 2), (1, 1, 4, 4)), {"shape": (2, 1, 2, 2), **_SAMPLES[1]}),
        Sample(((1, 2, 3, 3), (1, 2, 2, 2)), {"shape": (2, 1, 2, 2), **_SAMPLES[2]}),
    ),
    "conv_transpose": (
        Sample(((1, 2, 2, 2), (2, 1, 2, 2), (1,)), {**_SAMPLES[0], "output_padding": (0, 0)}),
        Sample(((1, 2, 3, 2), (2, 1, 2, 2), None), {**_SAMPLES[1], "output_padding": (1, 0)}),
        Sample(((1, 2, 3), (2, 1, 2), (1,)), {**_SAMPLES[3], "output_padding": (1,)}),
        Sample(((1, 2, 3, 3), (2, 1, 2, 2), (2,)), {**_SAMPLES[2], "output_padding": (0, 0)}),
    ),
    # grid
    "grid_sampler_2d": _GRID_SAMPLES,
    "grid_sampler_3d": (
        Sample((_VOLUME, _SPOTS)),
        Sample((_VOLUME, _SPOTS), {"padding_mode": "border"}),
    ),
    "sampled_at": (Sample((_IMAGE, _PLACES), _ORDERED),),
    "spread_from": (Sample(((1, 2, 1, 3), _PLACES), {"shape": _IMAGE, **_ORDERED}),),
    "affine_grid_generator": (
        Sample(((2, 2, 3),), {"size": (2, 1, 2, 3)}),
        Sample(((1, 3, 4),), {"size": (1, 1, 2, 2, 2), "align_corners": True}),
    ),
    "affine_grid_sums": (Sample(((2, 2, 3, 2),), {"size": (2, 1, 2, 3), "align_corners": False}),),
    # im2col
    "im2col": (Sample(((1, 2, 3, 4),), _WINDOWS), Sample(((1, 3, 4),), _WINDOWS)),
    "col2im": (Sample(((1, 8, 8),), {"output_size": (3, 4), **_WINDOWS}),),
    # normalization
    "layer_norm": (
        Sample(((2, 3), (3,), (3,)), {"normalized_shape": (3,)}),
        Sample(((2, 3), (3,), None), {"normalized_shape": (3,)}),
        Sample(((2, 2, 2), None, None), {"normalized_shape": (2, 2), "eps": 0.1}),
    ),
    # pooling
    "max_pool2d": (
        Sample(((1, 2, 4, 4),), _POOLING_SAMPLES[0]),
        Sample(((1, 1, 3, 4),), _POOLING_SAMPLES[1]),
        Sample(((1, 5, 5),), {**_POOLING_SAMPLES[0], "ceil_mode": True}),
    ),
    "max_pool3d": (Sample(((1, 1, 2, 2, 3),), _POOLING_SAMPLES[2]),),
    "max_pool_backward": (
        Sample(((1, 1, 2, 2), _POOLING_PLACES), {"shape": (1, 1, 4, 4), **_POOLING_SAMPLES[0]}),
    ),
    "max_pool_gather": (Sample(((1, 1, 4, 4), _POOLING_PLACES), _POOLING_SAMPLES[0]),),
    # resample
    "resampled": (
        Sample(((2, 3),), {"maps": (_taps([0, 0, 2], [1, 2, 0], [1.0, 0.5, 2.0], 4, 3),)}),
    ),
    "circular_pad": (Sample(((1, 3),), {"maps": (border(3, 1, 2, "circular"),)}),),
    **{
        name: _resampled(op)
        for name, op in OPS.items()
        if name.startswith(("adaptive_avg_pool", "upsample", "reflection_pad", "replication_pad"))
    },
    # unpooling
    "adaptive_max_pool2d": _ADAPTIVE,
    "adaptive_max_pool3d": (Sample(((1, 2, 3, 4),), {"output_size": (1, 2, 2)}),),
    "at_indices": (Sample(((1, 2, 2), _INDICES[None]), {"shape": (1, 3, 4), "dims": 2}),),
    "from_indices": (Sample(((1, 3, 4), _INDICES[None]), {"dims": 2}),),
    "max_unpool2d": (Sample(((1, 2, 2), _INDICES[None]), {"output_size": (3, 4)}),),
    "max_unpool3d": (Sample(((1, 1, 2, 2), _INDICES[None, None]), {"output_size": (1, 3, 4)}),),
    # weight_norm
    "weight_norm": (
        Sample(((3, 2), (3, 1)), {"dim": 0}),
        Sample(((3, 2, 2), (1, 1, 2)), {"dim": 2}),
    ),
}
