"""Samples of the ops of :mod:`autograd_core.ops.pointwise.activation`."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

BOTH = (Sample(([-1.5, -0.2, 0.3, 2.0],)), Sample(([[-0.7], [4.0]],)))

SAMPLES = {
    "elu": (
        *BOTH,
        Sample(([-1.0, 2.0],), {"alpha": 0.5, "scale": 1.5, "input_scale": 0.7}),
    ),
    "celu": (*BOTH, Sample(([-1.0, 2.0],), {"alpha": 0.5})),
    "gelu": (*BOTH, Sample(([-1.0, 2.0],), {"approximate": "tanh"})),
    "normal_cdf": BOTH,
    "silu": BOTH,
    "mish": BOTH,
    "softplus": (*BOTH, Sample(([-1.0, 0.5, 4.0],), {"beta": 2.0, "threshold": 3.0})),
    "log_sigmoid": BOTH,
    "leaky_relu": (*BOTH, Sample(([-1.0, 2.0],), {"negative_slope": 0.3})),
    "prelu": (Sample(([[-1.0, 2.0], [0.5, -3.0]], [0.1, 0.4])),),
    "rrelu_with_noise": (
        Sample(([-1.0, 2.0, -0.5], [0.2, 1.0, 0.3])),
        Sample(([[-1.0], [2.0]], [0.2, 0.3])),
    ),
    "hardtanh": (*BOTH, Sample(([-1.0, 2.0, 7.0],), {"min_val": 0.0, "max_val": 6.0})),
    "hardsigmoid": BOTH,
    "hardswish": (*BOTH, Sample(([-4.0, 5.0],))),
    "hardshrink": (*BOTH, Sample(([-1.0, 2.0],), {"lambd": 1.5})),
    "softshrink": (*BOTH, Sample(([-1.0, 2.0],), {"lambd": 1.5})),
    "threshold": (Sample(([-1.0, 0.5, 2.0],), {"threshold": 0.7, "value": 20.0}),),
    "glu": (Sample(((2, 4),)), Sample(((2, 4, 3),), {"dim": 1})),
}
