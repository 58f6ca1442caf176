"""Samples of the ops of :mod:`autograd_core.ops.networks.grid`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_IMAGE, _PLACES = (1, 2, 3, 4), [[[[-0.8, 0.35], [0.1, -0.45], [0.55, 0.9]]]]
_VOLUME, _SPOTS = (1, 1, 2, 3, 2), [[[[[-0.75, 0.3, 0.15], [0.1, -0.45, 0.8]]]]]
_SAMPLES = tuple(
    Sample((_IMAGE, _PLACES), {"mode": mode, "padding_mode": padding, "align_corners": align})
    for mode, padding, align in (
        ("bilinear", "zeros", False),
        ("bilinear", "reflection", True),
        ("bicubic", "border", False),
        ("nearest", "zeros", True),
    )
)
_ORDERED = {"mode": "bicubic", "padding_mode": "zeros", "align_corners": False, "orders": (0, 1)}

SAMPLES = {
    "grid_sampler_2d": _SAMPLES,
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
}
