"""Samples of the ops of :mod:`autograd_core.ops.networks.im2col`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

_WINDOWS = {"kernel_size": (2, 2), "dilation": (1, 1), "padding": (1, 0), "stride": (1, 2)}

SAMPLES = {
    "im2col": (Sample(((1, 2, 3, 4),), _WINDOWS), Sample(((1, 3, 4),), _WINDOWS)),
    "col2im": (Sample(((1, 8, 8),), {"output_size": (3, 4), **_WINDOWS}),),
}
