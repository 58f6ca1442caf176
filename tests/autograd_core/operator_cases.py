"""Calls of every operator, as data, that any library of PyTorch's form can run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


def words(text: str) -> list[str]:
    return text.split()


class Leaf(NamedTuple):
    """A tensor that needs a gradient."""

    array: Any


class Constant(NamedTuple):
    """A tensor that does not."""

    array: Any


class Call(NamedTuple):
    """Arguments, among which leaves and constants stand for tensors, and strings for dtypes."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def call(*args: Any, **kwargs: Any) -> Call:
    return Call(args, kwargs)


def normal(*shape: int, seed: int = 0) -> Leaf:
    return Leaf(np.random.default_rng(seed + 10 * sum(shape)).standard_normal(shape))


def positive(*shape: int, seed: int = 0) -> Leaf:
    return Leaf(np.random.default_rng(seed + 10 * sum(shape)).uniform(0.2, 3.0, shape))


def unit(*shape: int, seed: int = 0) -> Leaf:
    return Leaf(np.random.default_rng(seed + 10 * sum(shape)).uniform(-0.9, 0.9, shape))


def integers(*values: Any) -> Constant:
    return Constant(np.array(values[0] if len(values) == 1 else values))


N, P, U, I = normal, positive, unit, integers  # noqa: E741
MASK = Constant(np.array([[True, False, True], [False, True, True]]))
TIES = Leaf(np.array([[2.0, 1.0, 2.0], [0.5, 0.5, -1.0]]))
NAN = Leaf(np.array([[2.0, np.nan, 1.5], [0.5, np.nan, -1.0]]))
INF = np.array([1.0, np.inf, -np.inf, np.nan])
BOTH = (N(2, 3), N(3, seed=1))
COLUMN = (N(2, 3), N(2, 1, seed=1))
THREE = (N(2, 3), N(3, seed=1), P(2, 1, seed=2))
ROWS = I([[0, 2, 1], [1, 0, 0]])

UNARY: dict[str, Leaf] = {
    **dict.fromkeys(
        words(
            "abs angle asinh atan ceil conj conj_physical cos cosh deg2rad erf erfc exp exp2 expm1 "
            "floor frac i0 isfinite isinf isnan logical_not nan_to_num neg positive rad2deg real "
            "resolve_conj resolve_neg round sgn sigmoid sign sin sinc sinh square tan tanh trunc "
            "negative absolute fix arctan arcsinh ravel clone alias_copy"
        ),
        N(2, 3),
    ),
    **dict.fromkeys(words("digamma lgamma log log10 log1p log2 reciprocal rsqrt sqrt"), P(2, 3)),
    **dict.fromkeys(words("acos asin atanh erfinv arccos arcsin arctanh"), U(2, 3)),
    **dict.fromkeys(["acosh", "arccosh"], Leaf(np.array([1.5, 2.0, 4.0]))),
    "logit": Leaf(np.array([0.2, 0.5, 0.9])),
}
BINARY: dict[str, tuple[Leaf, Leaf]] = {
    **dict.fromkeys(
        words(
            "add sub mul atan2 arctan2 copysign div divide eq fmax fmin ge gt hypot le "
            "logaddexp logaddexp2 logical_and logical_or logical_xor lt maximum minimum multiply "
            "ne subtract true_divide fmod remainder less less_equal greater greater_equal "
            "not_equal isclose nextafter"
        ),
        BOTH,
    ),
    **dict.fromkeys(words("pow float_power xlogy"), (P(2, 3), P(3, seed=1))),
    "ldexp": COLUMN,
}
CALLS: dict[str, list[Call]] = {
    **{name: [call(leaf)] for name, leaf in UNARY.items()},
    **{name: [call(*leaves), call(leaves[0], leaves[0])] for name, leaves in BINARY.items()},
    # elementwise, with attributes or more inputs
    "addcdiv": [call(*THREE), call(*THREE, value=0.5)],
    "addcmul": [call(*THREE), call(*THREE, value=0.5)],
    "clamp": [
        call(N(2, 3), -0.5, 0.5), call(N(2, 3), max=0.1), call(N(2, 3), min=N(3, seed=1)),
        call(N(2, 3), N(3, seed=1), P(2, 1, seed=2)), call(N(2, 3), max=N(3, seed=1)),
    ],
    "clip": [call(N(2, 3), -0.5, 0.5)],
    "clamp_max": [call(N(2, 3), 0.3), call(*BOTH)],
    "clamp_min": [call(N(2, 3), 0.3), call(*BOTH)],
    "frexp": [call(N(2, 3))],
    "lerp": [call(N(2, 3), N(3, seed=1), 0.3), call(*THREE)],
    "logit": [call(Leaf(np.array([0.2, 0.5, 0.9]))), call(Leaf(np.array([0.01, 0.5, 0.99])), 0.1)],
    "mvlgamma": [call(Leaf(np.array([2.5, 3.0])), 3)],
    "nan_to_num": [
        call(Constant(INF)), call(Constant(INF), 0.5, 2.0, -3.0), call(N(2, 3), 0.5),
    ],
    "polygamma": [call(2, P(3)), call(0, P(3)), call(1, P(3))],
    "round": [call(N(2, 3)), call(N(2, 3), decimals=2)],
    "rsub": [call(*BOTH), call(N(2, 3), 2.0), call(*BOTH, alpha=2)],
    "pow": [call(P(2, 3), P(3, seed=1)), call(P(2, 3), 2), call(2.0, P(2, 3))],
    "float_power": [call(P(2, 3), 2), call(2.0, P(2, 3)), call(*COLUMN[:1], 3.0)],
    "fmod": [call(*BOTH), call(N(2, 3), 0.4)],
    "remainder": [call(*BOTH), call(N(2, 3), 0.4), call(2.0, Constant(np.array([0.7, -1.5])))],
    "xlogy": [call(P(2, 3), P(3, seed=1)), call(N(2, 3), 2.0), call(0.5, P(2, 3))],
    "div": [
        call(*BOTH), call(*BOTH, rounding_mode="floor"), call(*BOTH, rounding_mode="trunc"),
        call(N(2, 3), 0.7, rounding_mode="floor"),
    ],
    "floor_divide": [call(I(7, -7, 3), I(2, 2, -2)), call(I(7, -7), 2)],
    "heaviside": [call(Constant([-1.0, 0.0, 2.0]), Constant([0.5]))],
    "where": [call(MASK, *BOTH), call(MASK, N(2, 3), 0.0), call(MASK)],
    "copysign": [call(*BOTH), call(N(2, 3), -2.0)],
    "fill": [call(N(2, 3), 2.0), call(N(2, 3), N(seed=1))],
    # reductions
    **{
        name: [call(N(2, 3)), call(N(2, 3), 1), call(N(2, 3), (0, 1)), call(N(2, 3), 0, True)]
        for name in words("sum mean amax amin nansum nanmean std var std_mean var_mean all any")
    },
    **{name: [call(TIES), call(TIES, 1), call(TIES, (0, 1))] for name in ["amax", "amin"]},
    "nansum": [call(NAN), call(NAN, 1)],
    "nanmean": [call(NAN), call(NAN, 1)],
    "aminmax": [call(TIES), call(N(2, 3), dim=1), call(N(2, 3), dim=0, keepdim=True)],
    "argmax": [call(N(2, 3)), call(N(2, 3), 1), call(N(2, 3), 1, True)],
    "argmin": [call(N(2, 3)), call(N(2, 3), 1)],
    "max": [call(N(2, 3)), call(N(2, 3), 1), call(*BOTH)],
    "min": [call(N(2, 3)), call(N(2, 3), 1), call(*BOTH)],
    "prod": [call(N(2, 3)), call(N(2, 3), 1), call(Leaf([[0.0, 2.0], [3.0, 0.5]]), 1, True)],
    "var": [
        call(N(2, 3)), call(N(2, 3), 1), call(N(2, 3), (0, 1), correction=0),
        call(N(2, 3), unbiased=False), call(N(2, 3), 0, False), call(N(2, 3), 1, keepdim=True),
    ],
    "std": [call(N(2, 3)), call(N(2, 3), 1, correction=0), call(N(2, 3), False)],
    "var_mean": [call(N(2, 3)), call(N(2, 3), 1, correction=2)],
    "std_mean": [call(N(2, 3)), call(N(2, 3), 1, keepdim=True)],
    "norm": [
        call(N(2, 3)), call(N(2, 3), 1), call(N(2, 3), 3, 1), call(N(2, 3), float("inf"), 0),
        call(N(2, 3), "fro", 1), call(N(2, 3), 2, 1, True),
    ],
    "logsumexp": [call(N(2, 3), 1), call(N(2, 3), (0, 1)), call(N(2, 3), 0, True)],
    "median": [call(N(2, 3)), call(N(2, 3), 1), call(N(2, 3), 0, True)],
    "nanmedian": [call(NAN), call(NAN, 1)],
    "mode": [call(TIES), call(N(2, 3), 0)],
    "kthvalue": [call(N(2, 3), 2), call(N(2, 3), 1, 0, True)],
    "quantile": [
        call(N(2, 3), 0.3), call(N(2, 3), Constant([0.1, 0.5]), 1),
        call(N(2, 3), 0.4, 0, keepdim=True), call(N(2, 3), 0.4, interpolation="nearest"),
        call(N(2, 3), 0.6, interpolation="midpoint"), call(N(2, 3), 0.6, interpolation="lower"),
    ],
    "nanquantile": [call(NAN, 0.3), call(NAN, 0.3, 1)],
    "count_nonzero": [call(MASK), call(MASK, 1)],
    "all": [call(MASK), call(MASK, 1), call(N(2, 3)), call(MASK, (0, 1))],
    "any": [call(MASK), call(MASK, 1), call(N(2, 3)), call(MASK, 1, True)],
    "dist": [call(*BOTH), call(N(2, 3), N(2, 3, seed=1), 1), call(*BOTH, 3)],
    "renorm": [call(N(2, 3), 2, 0, 0.8), call(N(2, 3), 1, 1, 0.8)],
    "cov": [call(N(3, 4)), call(N(4)), call(N(3, 4), correction=0)],
    "corrcoef": [call(N(3, 4))],
    "softmax": [call(N(2, 3), 1)],
    "log_softmax": [call(N(2, 3), 1)],
    "bincount": [call(I(0, 2, 2)), call(I(0, 2, 2), Constant([0.5, 1.0, 2.0]), 4)],
    "allclose": [call(*BOTH), call(N(2, 3), N(2, 3))],
    "equal": [call(N(2, 3), N(2, 3)), call(*BOTH)],
    # along a dimension
    "cumsum": [call(N(2, 3), 1), call(N(2, 3), 0)],
    "cumprod": [call(N(2, 3), 1), call(Leaf([[2.0, 0.0, 3.0, 0.5]]), 1)],
    "cummax": [call(N(2, 3), 1), call(TIES, 1)],
    "cummin": [call(N(2, 3), 1), call(TIES, 0)],
    "logcumsumexp": [call(N(2, 3), 1), call(N(2, 3), 0)],
    "diff": [call(N(2, 4)), call(N(2, 4), 2, 1), call(N(3, 2), dim=0, prepend=N(1, 2, seed=1))],
    "trapezoid": [call(N(2, 3)), call(N(2, 3), dx=0.5, dim=0), call(N(2, 3), N(2, 3, seed=1))],
    "trapz": [call(N(2, 3)), call(N(2, 3), N(3, seed=1))],
    "cumulative_trapezoid": [call(N(2, 3)), call(N(2, 3), N(2, 3, seed=1)), call(N(2, 3), dx=2.0)],
    "gradient": [call(N(4)), call(N(4), spacing=0.5), call(N(3, 4), dim=1), call(N(3, 4))],
    # shapes
    "atleast_1d": [call(N()), call(N(2))],
    "atleast_2d": [call(N()), call(N(2)), call(N(2, 3))],
    "atleast_3d": [call(N()), call(N(2)), call(N(2, 3)), call(N(2, 3, 2))],
    "block_diag": [call(N(2, 3), N(2, 2, seed=1), N(3))],
    "broadcast_tensors": [call(*BOTH)],
    "broadcast_to": [call(N(3), (2, 3))],
    "cartesian_prod": [call(N(2), N(3)), call(N(3))],
    "cat": [call([N(2, 3), N(1, 3)]), call([N(2, 3), N(2, 1)], 1)],
    **{name: [call([N(2, 3), N(1, 3)])] for name in ("concat", "concatenate")},
    "chunk": [call(N(5, 2), 2), call(N(2, 5), 3, 1)],
    "column_stack": [call([N(2), N(2, 3)])],
    "combinations": [call(N(4)), call(N(3), 3), call(N(3), 2, True)],
    "constant_pad_nd": [call(N(2, 3), (1, 2)), call(N(2, 3), (1, -1, 0, 2), 0.5)],
    "diag": [call(N(3)), call(N(3, 4)), call(N(3), 1), call(N(3, 4), -1)],
    "diag_embed": [call(N(2, 3)), call(N(2, 3), 1, 0, 2)],
    "diagflat": [call(N(2, 2)), call(N(3), -1)],
    "diagonal": [call(N(3, 4)), call(N(2, 3, 4), 1, 0, 2)],
    "diagonal_copy": [call(N(3, 4))],
    "diagonal_scatter": [call(N(3, 3), N(3, seed=1)), call(N(3, 3), N(2, seed=1), 1)],
    "dsplit": [call(N(2, 2, 4), 2)],
    "hsplit": [call(N(2, 4), 2), call(N(4), (1, 3))],
    "vsplit": [call(N(4, 2), 2)],
    "tensor_split": [call(N(5, 2), 2), call(N(5, 2), (1, 3)), call(N(2, 5), 3, dim=1)],
    "dstack": [call([N(2), N(2, seed=1)])],
    "hstack": [call([N(2), N(3)]), call([N(2, 3), N(2, 1)])],
    "vstack": [call([N(3), N(2, 3)])],
    "row_stack": [call([N(3), N(2, 3)])],
    "expand": [call(N(3), (2, 3)), call(N(2, 1), (-1, 3))],
    "expand_as": [call(N(3), Constant(np.zeros((2, 3))))],
    "expand_copy": [call(N(3), (2, 3))],
    "flatten": [call(N(2, 3)), call(N(2, 3, 2), 1)],
    "flip": [call(N(2, 3), (0, 1)), call(N(2, 3), (-1,))],
    "fliplr": [call(N(2, 3))],
    "flipud": [call(N(2, 3))],
    "meshgrid": [call(N(2), N(3), indexing="ij"), call(N(2), N(3), indexing="xy")],
    "movedim": [call(N(2, 3, 4), 0, 2), call(N(2, 3, 4), (0, 1), (2, 0))],
    "moveaxis": [call(N(2, 3, 4), 0, 2)],
    "narrow": [call(N(2, 5), 1, 1, 3)],
    "narrow_copy": [call(N(2, 5), 1, 1, 3)],
    "permute": [call(N(2, 3, 4), (2, 0, 1))],
    "permute_copy": [call(N(2, 3, 4), (2, 0, 1))],
    "repeat": [call(N(2, 3), 2, 1), call(N(3), (2, 2, 1))],
    "repeat_interleave": [
        call(N(2, 3), 2), call(N(2, 3), 2, 0), call(N(2, 3), I(1, 2), 0), call(N(3), I(0, 2, 1)),
    ],
    "reshape": [call(N(2, 3), (3, 2)), call(N(2, 3), (-1,))],
    "reshape_as": [call(N(2, 3), Constant(np.zeros((3, 2))))],
    "view": [call(N(2, 3), 3, 2)],
    "view_as": [call(N(2, 3), Constant(np.zeros((3, 2))))],
    "view_copy": [call(N(2, 3), (3, 2))],
    "roll": [call(N(2, 3), 1), call(N(2, 3), 1, 1), call(N(2, 3), (1, -1), (0, 1))],
    "rot90": [call(N(2, 3)), call(N(2, 3), 2), call(N(2, 3, 2), -1, (1, 2))],
    "select": [call(N(2, 3), 1, 2)],
    "select_scatter": [call(N(2, 3), N(2, seed=1), 1, 2)],
    "slice_scatter": [call(N(4, 3), N(2, 3, seed=1), 0, 1, 3), call(N(3, 2), N(3, 2, seed=1))],
    "split": [call(N(5, 2), 2), call(N(5, 2), [2, 3])],
    "split_with_sizes": [call(N(5, 2), [2, 3])],
    "split_with_sizes_copy": [call(N(5, 2), [2, 3])],
    "unsafe_chunk": [call(N(5, 2), 2)],
    "unsafe_split": [call(N(5, 2), 2)],
    "squeeze": [call(N(2, 1, 3)), call(N(2, 1, 3), 1), call(N(1, 2, 1), (0, 2))],
    "squeeze_copy": [call(N(2, 1, 3)), call(N(2, 1, 3), 1)],
    "stack": [call([N(2), N(2, seed=1)]), call([N(2), N(2, seed=1)], 1)],
    "swapaxes": [call(N(2, 3), 0, 1)],
    "swapdims": [call(N(2, 3), 0, 1)],
    "t": [call(N(2, 3)), call(N(3))],
    "t_copy": [call(N(2, 3))],
    "adjoint": [call(N(2, 3))],
    "tile": [call(N(2, 3), (2, 1)), call(N(2, 3), (2,))],
    "trace": [call(N(3, 4))],
    "transpose": [call(N(2, 3, 4), 0, -1)],
    "transpose_copy": [call(N(2, 3), 0, 1)],
    "tril": [call(N(3, 4)), call(N(3, 3), -1)],
    "triu": [call(N(3, 4)), call(N(2, 3, 3), 1)],
    "unbind": [call(N(3, 2)), call(N(2, 3), 1)],
    "unbind_copy": [call(N(3, 2))],
    "unflatten": [call(N(2, 6), 1, (2, 3)), call(N(2, 6), 1, (-1, 3))],
    "unfold": [call(N(2, 5), 1, 3, 1), call(N(5), 0, 2, 2)],
    "unfold_copy": [call(N(2, 5), 1, 3, 1)],
    "unsqueeze": [call(N(2, 3), 1)],
    "unsqueeze_copy": [call(N(2, 3), 1)],
    "as_strided": [call(N(2, 3), (2, 2), (1, 2)), call(N(6), (3, 2), (2, 1), 0)],
    "as_strided_copy": [call(N(2, 3), (2, 2), (1, 2))],
    "as_strided_scatter": [call(N(2, 3), N(2, 2, seed=1), (2, 2), (1, 2), 1)],
    "sum_to_size": [call(N(2, 3), (1, 3)), call(N(2, 3), 2, 1)],
    "contiguous": [call(N(2, 3))],
    # indexing
    "gather": [call(N(2, 3), 1, ROWS), call(N(2, 3), 0, I([[0, 1, 1]]))],
    "scatter": [
        call(N(2, 3), 1, I([[2, 0], [0, 1]]), N(2, 2, seed=1)),
        call(N(2, 3), 1, I([[2], [0]]), 0.5),
    ],
    "scatter_add": [call(N(2, 3), 1, ROWS, N(2, 3, seed=1))],
    "scatter_reduce": [
        *(call(N(2, 3), 1, ROWS, N(2, 3, seed=1), reduce)
          for reduce in ("sum", "prod", "mean", "amax", "amin")),
        *(call(N(2, 3), 1, ROWS, N(2, 3, seed=1), reduce, include_self=False)
          for reduce in ("sum", "prod", "mean", "amax", "amin")),
    ],
    "index_select": [call(N(3, 2), 0, I(2, 0, 2)), call(N(2, 3), 1, I(1, 1))],
    "index_add": [
        call(N(3, 2), 0, I(2, 0, 2), N(3, 2, seed=1)),
        call(N(2, 3), 1, I(1, 1), N(2, 2, seed=1), alpha=2),
    ],
    "index_copy": [call(N(3, 2), 0, I(2, 0), N(2, 2, seed=1))],
    "index_fill": [
        call(N(3, 2), 0, I(2, 0), 0.5), call(N(3, 2), 0, I(2, 0), N(seed=1)),
        call(N(3, 2), 1, I(1, 1), N(seed=1)),
    ],
    "index_put": [
        call(N(3, 2), (I(2, 0),), N(2, 2, seed=1)),
        call(N(3, 2), (I(2, 2), I(0, 0)), N(2, seed=1), accumulate=True),
    ],
    "index_reduce": [
        call(N(3, 2), 0, I(2, 0, 2), N(3, 2, seed=1), reduce)
        for reduce in ("prod", "mean", "amax", "amin")
    ],
    "masked_fill": [call(N(2, 3), MASK, 0.5), call(N(2, 3), MASK, N(seed=1)),
                    call(N(3), MASK, 0.5)],
    "masked_select": [call(N(2, 3), MASK), call(N(3), MASK)],
    "masked_scatter": [call(N(2, 3), MASK, N(5, seed=1))],
    "take": [call(N(2, 3), I([4, 0, 4]))],
    "take_along_dim": [call(N(2, 3), ROWS, 1), call(N(2, 3), I(4, 0))],
    "put": [
        call(N(2, 3), I(4, 0), N(2, seed=1)), call(N(2, 3), I(4, 4), N(2, seed=1), accumulate=True),
    ],
    "nonzero": [call(MASK), call(MASK, as_tuple=True)],
    "argwhere": [call(MASK)],
    "unique": [call(I(3, 1, 1, 2)), call(I(3, 1, 1, 2), return_inverse=True, return_counts=True)],
    "bucketize": [call(Constant([0.5, 2.0, 3.5]), Constant([1.0, 2.0, 3.0])),
                  call(Constant([0.5, 2.0]), Constant([1.0, 2.0]), right=True)],
    "searchsorted": [call(Constant([1.0, 2.0, 3.0]), Constant([0.5, 2.0])),
                     call(Constant([[1.0, 2.0], [0.0, 1.0]]), Constant([[2.0], [0.5]]),
                          side="right")],
    "sort": [call(N(2, 3)), call(N(2, 3), 0, True), call(N(2, 3), stable=True, dim=0)],
    "argsort": [call(N(2, 3)), call(N(2, 3), 0, True)],
    "msort": [call(N(3, 2))],
    "topk": [call(N(2, 4), 2), call(N(4, 2), 2, 0, False)],
    # products
    "addbmm": [call(N(2, 4), N(2, 2, 3), N(2, 3, 4)),
               call(N(2, 4), N(2, 2, 3), N(2, 3, 4), beta=0.5, alpha=2)],
    "addmm": [call(N(4), N(2, 3), N(3, 4)), call(N(4), N(2, 3), N(3, 4), beta=0.5, alpha=2)],
    "addmv": [call(N(2), N(2, 3), N(3)), call(N(2), N(2, 3), N(3), beta=0.5, alpha=2)],
    "addr": [call(N(2, 3), N(2), N(3)), call(N(2, 3), N(2), N(3), beta=0.5, alpha=2)],
    "baddbmm": [call(N(2, 2, 4), N(2, 2, 3), N(2, 3, 4)),
                call(N(4), N(2, 2, 3), N(2, 3, 4), beta=0.5, alpha=2)],
    "bmm": [call(N(2, 2, 3), N(2, 3, 4))],
    "cdist": [call(N(2, 3), N(4, 3)), call(N(2, 3), N(4, 3), 1.0),
              call(N(2, 2, 3), N(2, 4, 3), 3.0), call(N(2, 3), N(4, 3), float("inf"))],
    "cross": [call(N(2, 3), N(2, 3, seed=1), dim=1), call(N(2, 3), N(1, 3, seed=1), dim=1)],
    "dot": [call(N(3), N(3, seed=1))],
    "einsum": [
        call("ij,jk->ik", N(2, 3), N(3, 4)), call("ii->i", N(3, 3)),
        call("bij,bkj", N(2, 2, 3), N(2, 4, 3)), call("i,j->ij", N(2), N(3)),
        call("ij->", N(2, 3)), call("...ij,jk->...ik", N(2, 2, 3), N(3, 4)),
        call("ij,jk,kl->il", N(2, 3), N(3, 4), N(4, 2)), call("ij->ji", N(2, 3)),
    ],
    "inner": [call(N(3), N(3, seed=1)), call(N(2, 3), N(4, 3)), call(N(2, 3), N(3))],
    "kron": [call(N(2, 3), N(3, 2)), call(N(2), N(3))],
    "matmul": [call(N(2, 3), N(3, 4)), call(N(2, 2, 3), N(3))],
    "mm": [call(N(2, 3), N(3, 4))],
    "mv": [call(N(2, 3), N(3))],
    "outer": [call(N(2), N(3))],
    "ger": [call(N(2), N(3))],
    "tensordot": [call(N(2, 3), N(3, 4), 1), call(N(2, 3, 4), N(4, 3, 2), ([1, 2], [1, 0]))],
    "vdot": [call(N(3), N(3, seed=1))],
    # making tensors
    "empty_like": [],
    "eye": [call(3), call(2, 3, dtype="float64")],
    "full": [call((2, 3), 0.5), call((2,), 1, dtype="float64")],
    "full_like": [call(N(2, 3), 2.0), call(N(2, 3), 2, dtype="int64")],
    "zeros_like": [call(N(2, 3)), call(N(2, 3), dtype="int64")],
    "ones_like": [call(N(2, 3)), call(N(2, 3), dtype="float32")],
    "zeros": [call(2, 3), call((2,), dtype="int32")],
    "ones": [call(2, 3)],
    "arange": [call(3), call(1, 2, 0.25), call(4, dtype="float64"), call(start=1, end=5, step=2)],
    "linspace": [call(0, 1, 5), call(0, 1, steps=3, dtype="float64")],
    "logspace": [call(0, 2, 3)],
    "tril_indices": [call(3, 3)],
    "triu_indices": [call(3, 3)],
}  # fmt: skip
