"""Samples of the ops in ``autograd_core/ops/pointwise``."""

from __future__ import annotations

from tests.autograd_core.op_samples.sample import Sample

PAIR = (Sample(((2, 3), (2, 3))), Sample(((2, 3), (3,))), Sample(((), (2, 1))))
ONE = (Sample(((3,),)), Sample(((2, 2),)), Sample(((),)))
POSITIVE = (Sample(([0.5, 1.0, 2.5],)), Sample(([[3.0, 0.25]],)))
BOTH = (Sample(([-1.5, -0.2, 0.3, 2.0],)), Sample(([[-0.7], [4.0]],)))
_ONE = (Sample(([-1.5, 0.3, 2.0],)), Sample(([[0.5], [1.25]],)))
_FRACTION = (Sample(([0.1, 0.5, 0.85],)),)
_POSITIVE_PAIR = (Sample(([0.5, 1.0, 2.5], [3.0, 0.25, 1.0])), Sample(([[0.5], [2.0]], [1.5, 3.0])))
FRACTIONS = (Sample(([0.3, -1.6, 2.2],)),)
_PAIR = (Sample(([1.5, -2.25, 7.0], [0.5, 0.75, -2.0])), Sample(([[1.5], [-7.25]], [2.0, 0.75])))
_ODD_PAIR = (Sample(([1.6, -2.3, 7.0], [0.7, 0.9, -3.0])), Sample(([[1.6], [-7.3]], [2.0, 0.9])))
_THREE = (Sample(((2, 3), (2, 3), (2, 3))), Sample(((2, 3), (3,), (2, 1)), {"value": 0.5}))
_BOUNDS = (
    Sample(([[-2.0], [0.5]], [-1.0, 0.0, 0.7], 0.6)),
    Sample(([-2.0, 0.5, 3.0], [-1.0, 1.0, 0.0], None)),
    Sample(([-2.0, 0.5, 3.0], None, [1.0, 0.0, 5.0])),
)
_WITHIN_ONE = (Sample(([-0.5, 0.25, 0.75],)), Sample(([[0.0, 0.5]],)))

SAMPLES = {
    # elementwise
    "add_scaled": (Sample(((2, 2), (2,)), {"alpha": 3}),),
    "sub_scaled": (Sample(((2, 2), (2,)), {"alpha": 3}),),
    "rsub": (Sample(((2, 3),), {"other": 2.5}),),
    "div": (Sample(((2, 3), [1.0, 2.0, -4.0])), Sample(((), [[0.5], [2.0]]))),
    "mul_number": (Sample(((2, 3),), {"other": 2.5}),),
    "div_number": (Sample(((2, 3),), {"other": 2.5}),),
    "reciprocal": POSITIVE,
    "pow_number": (
        Sample(([0.5, 2.0, -3.0],), {"exponent": 2}),
        Sample(([0.5, 2.0],), {"exponent": -1.5}),
        Sample(([0.5, 2.0],), {"exponent": 0}),
    ),
    "pow_tensor": (
        Sample(([0.5, 2.0, 3.0], [2.0, -1.0, 0.5])),
        Sample(([[0.5], [2.0]], [1.5, 3.0, -2.0])),
    ),
    "pow_base": (Sample(([0.5, 2.0, -3.0],), {"self": 2.5}),),
    "log": POSITIVE,
    "sqrt": POSITIVE,
    "relu": (Sample(([-1.0, 0.5, 2.0],)), Sample(([[-0.5, 0.25]],))),
    "abs": (Sample(([-1.5, 2.0],)),),
    "sign": (Sample(([-1.5, 2.0],)),),
    "sgn": (Sample(([-1.5, 2.0],)),),
    "clamp": (
        Sample(([-2.0, 0.5, 3.0],), {"min": -1, "max": 1}),
        Sample(([-2.0, 1.0],), {"min": 0}),
    ),
    "where": (Sample(([True, False, True], (3,), (2, 3))),),
    # activation
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
    "hardtanh": (*BOTH, Sample(([-1.0, 2.0, 7.0],), {"min_val": 0.0, "max_val": 6.0})),
    "hardsigmoid": BOTH,
    "hardswish": (*BOTH, Sample(([-4.0, 5.0],))),
    "hardshrink": (*BOTH, Sample(([-1.0, 2.0],), {"lambd": 1.5})),
    "softshrink": (*BOTH, Sample(([-1.0, 2.0],), {"lambd": 1.5})),
    "threshold": (Sample(([-1.0, 0.5, 2.0],), {"threshold": 0.7, "value": 20.0}),),
    "glu": (Sample(((2, 4),)), Sample(((2, 4, 3),), {"dim": 1})),
    # special_functions, of torch.special alone
    "entr": (Sample(([0.5, 1.0, 2.5],)),),
    "erfcx": _ONE,
    "i0e": _ONE,
    "i1e": _ONE,
    "log_ndtr": _ONE,
    "ndtri": _FRACTION,
    "xlog1py_tensor": (Sample(([0.5, 2.0], [1.5, 0.25])), Sample(([[0.5], [2.0]], [1.5, 0.25]))),
    "xlog1py_of_number": (Sample(([1.5, 0.25],), {"self": 2}),),
    "xlog1py_number": (Sample(([1.5, 0.25],), {"other": 2}),),
    # exponential
    "log1p": POSITIVE,
    "log2": POSITIVE,
    "log10": POSITIVE,
    "rsqrt": POSITIVE,
    "xlogy": _POSITIVE_PAIR,
    "xlogy_number": (Sample(((2, 3),), {"other": 2.5}),),
    "xlogy_of_number": (Sample(([0.5, 2.0],), {"self": 2.5}),),
    "logit": (Sample(([0.2, 0.5, 0.9],)), Sample(([0.01, 0.5, 0.99],), {"eps": 0.1})),
    # rounding
    "floor": FRACTIONS,
    "ceil": FRACTIONS,
    "trunc": FRACTIONS,
    "round": FRACTIONS,
    "round_decimals": (Sample(([0.333, -1.666],), {"decimals": 2}),),
    "frac": FRACTIONS,
    "fmod": _ODD_PAIR,
    "fmod_number": (Sample(([1.6, -2.3],), {"other": 0.7}),),
    "remainder": _ODD_PAIR,
    "remainder_number": (Sample(([1.6, -2.3],), {"other": 0.7}),),
    "div_rounded": (
        Sample(([1.6, -2.3, 7.0], [0.7, 0.9, -3.0]), {"rounding_mode": "floor"}),
        Sample(([[1.6], [-7.3]], [2.0, 0.9]), {"rounding_mode": "trunc"}),
    ),
    "copysign": _PAIR,
    "copysign_number": (Sample(([1.6, -2.3],), {"other": -1.0}),),
    "nan_to_num": (Sample(([1.5, -2.0],)), Sample(([1.5, -2.0],), {"nan": 1.0})),
    "frexp": (Sample(([1.5, -7.3],)),),
    "nextafter": _PAIR,
    # select
    "clamp_max": (Sample(([-2.0, 0.5, 3.0],), {"max": 1.0}),),
    "clamp_min": (Sample(([-2.0, 0.5, 3.0],), {"min": 1.0}),),
    "clamp_tensors": _BOUNDS,
    "lerp_number": (Sample(((2, 3), (3,)), {"weight": 0.3}),),
    "lerp_tensor": (Sample(((2, 3), (3,), (2, 1))), Sample(((2,), (2,), (2,)))),
    "addcmul": _THREE,
    "addcdiv": (
        Sample(((2, 3), (2, 3), [[0.5], [2.0]])),
        Sample(((2,), (2,), [-0.5, 2.0]), {"value": 0.5}),
    ),
    "fill_tensor": (Sample(((2, 3), ())),),
    "rsub_tensor": (Sample(((2, 3), (3,))), Sample(((2, 1), (2, 3)), {"alpha": 2})),
    # special_functions
    "erfinv": (Sample(([-0.5, 0.25, 0.75],)),),
    "lgamma": POSITIVE,
    "digamma": POSITIVE,
    "polygamma": (Sample(([0.5, 1.0, 2.5],), {"n": 1}), Sample(([3.0],), {"n": 0})),
    "mvlgamma": (Sample(([2.5, 3.0],), {"p": 3}),),
    "i1": POSITIVE,
    # trigonometry
    "asin": _WITHIN_ONE,
    "acos": _WITHIN_ONE,
    "acosh": (Sample(([1.5, 2.0],)), Sample(([[4.0]],))),
    "atanh": _WITHIN_ONE,
    "sinc": POSITIVE,
}
