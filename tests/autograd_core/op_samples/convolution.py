"""Samples of the ops of :mod:`autograd_core.ops.networks.convolution`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_SAMPLES = (
    {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1},
    {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2), "groups": 1},
    {"stride": (1, 1), "padding": (1, 1), "dilation": (1, 1), "groups": 2},
    {"stride": (2,), "padding": (1,), "dilation": (1,), "groups": 1},
    {"stride": (1, 1, 2), "padding": (0, 1, 0), "dilation": (1, 1, 1), "groups": 1},
)

SAMPLES = {
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
}
