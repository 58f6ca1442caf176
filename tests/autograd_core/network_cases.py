"""Calls of the functions of ``nn.functional``, ``linalg``, ``special`` and ``fft``, and of the
operators that :mod:`tests.autograd_core.operator_cases` leaves out, as data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.autograd_core.operator_cases import BOTH, Call, Constant, I, Leaf, N, P, U, call, words

X = N(2, 3)
SHARES, TRUTHS = Leaf([[0.2, 0.7, 0.5], [0.9, 0.1, 0.4]]), Constant([[1.0, 0, 1], [0, 0, 1.0]])
SIGNS = Constant([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]])
SIGNAL, IMAGE, VOLUME = N(1, 2, 4), N(1, 2, 4, 4), N(1, 2, 4, 4, 4)
FEW = (SIGNAL, IMAGE, VOLUME)
REAL = Leaf([[3.0, 0.5, 0.2], [0.5, 2.0, -0.4], [0.2, -0.4, 1.0]])
LOWER = Leaf([[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [0.4, -1.0, 1.5]])
PIVOTS = Constant(np.array([2, 2, 3], np.int32))
TALL = N(4, 3)
TWO = Leaf(np.array([[[2.0, 0.5, 0.3], [1.0, 3.0, -0.2], [0.4, -1.0, 1.5]], REAL.array]))
WEIGHT = Constant([0.5, 1.0, 2.0])
SCORES = Leaf(np.log(np.random.default_rng(0).dirichlet(np.ones(4), (6, 3))))
TEXTS = I([[1, 2, 2], [2, 1, 0], [1, 1, 1]])
INF = math.inf
REDUCTIONS = ("mean", "sum", "none")
Q, K = N(1, 2, 3, 4), N(1, 2, 3, 4, seed=1)


def _every(names: str, *calls: Call) -> dict[str, list[Call]]:
    return {name: list(calls) for name in words(names)}


def _reduced(*args: Any, **kwargs: Any) -> list[Call]:
    return [call(*args, **kwargs, reduction=each) for each in REDUCTIONS]


def _windows(name: str, *args: Any, **kwargs: Any) -> dict[str, list[Call]]:
    return {f"{name}{n}d": [call(x, *args, **kwargs)] for n, x in enumerate(FEW, 1)}


def _maxima(n: int) -> list[Call]:
    where = np.arange(2 * 2**n).reshape(1, 2, *[2] * n) % 2**n * (2**n + 1) % 4**n
    return [call(N(1, 2, *[2] * n), Constant(where), 2)]


# fmt: off
_FUNCTIONAL: dict[str, list[Call]] = {
    **_every(
        "relu relu6 leaky_relu elu selu celu silu gelu mish softplus "
        "hardshrink softshrink hardtanh hardsigmoid hardswish logsigmoid sigmoid tanh",
        call(X),
    ),
    "gelu": [call(X), call(X, approximate="tanh")],
    "elu": [call(X), call(X, 0.5)],
    "celu": [call(X), call(X, 2.0)],
    "leaky_relu": [call(X), call(X, 0.2), call(X, -0.2)],
    "hardtanh": [call(X), call(X, -0.3, 0.4)],
    "threshold": [call(X, 0.1, -2.0)],
    "softplus": [call(X), call(X, 2.0, 1.0)],
    "glu": [call(N(2, 4)), call(N(2, 4), 0)],
    "prelu": [call(X, N(1)), call(X, N(3))],
    **_every("softmax log_softmax", call(X, 1), call(X, dim=0)),
    "dropout": [call(X, 0.0), call(X, 0.5, False)],
    **{f"dropout{n}d": [call(x, 0.0), call(x, 0.5, False)] for n, x in enumerate(FEW, 1)},
    "linear": [call(X, N(4, 3)), call(X, N(4, 3), N(4)), call(N(2, 2, 3), N(4, 3), N(4))],
    "embedding": [call(I([[2, 0], [1, 2]]), N(3, 4)), call(I(1, 0), N(3, 4), 0)],
    "one_hot": [call(I(2, 0, 1)), call(I(2, 0, 1), 4)],
    "normalize": [call(X), call(X, 1.0, 0)],
    "cosine_similarity": [call(*BOTH), call(X, N(2, 3, seed=1), 0)],
    "pairwise_distance": [call(X, N(2, 3, seed=1)), call(X, N(3, seed=1), 1.0)],
    "pdist": [call(TALL), call(TALL, 1.0), call(TALL, 3.0)],
    "layer_norm": [call(X, (3,)), call(X, (3,), N(3), N(3, seed=1))],
    "rms_norm": [call(X, (3,)), call(X, (3,), N(3))],
    "group_norm": [call(N(2, 4, 3), 2), call(N(2, 4, 3), 2, N(4), N(4, seed=1))],
    "batch_norm": [
        call(N(4, 2), None, None, N(2), N(2, seed=1), True),
        call(N(4, 2), Constant([0.1, -0.2]), Constant([0.5, 2.0]), N(2), N(2, seed=1)),
        call(N(2, 2, 3), Constant([0.1, -0.2]), Constant([0.5, 2.0]), None, None, True),
    ],
    **{f"conv{n}d": [call(x, N(4, 2, *[2] * n), N(4)), call(x, N(4, 1, *[2] * n), None, 2, 1, 1, 2)]
       for n, x in enumerate(FEW, 1)},
    **{f"conv_transpose{n}d": [call(x, N(2, 3, *[2] * n), N(3)),
                               call(x, N(2, 2, *[2] * n), None, 2, 1, 1, 2)]
       for n, x in enumerate(FEW, 1)},
    "unfold": [call(IMAGE, 2), call(IMAGE, (2, 3), 1, 1, 2)],
    "fold": [call(N(1, 8, 9), (4, 4), 2)],
    **_windows("max_pool", 2), **_windows("avg_pool", 2),
    **_windows("adaptive_max_pool", 2), **_windows("adaptive_avg_pool", 2),
    "max_pool2d": [call(IMAGE, 2), call(IMAGE, 3, 1, 1, return_indices=True),
                   call(IMAGE, 2, dilation=2, ceil_mode=True)],
    "avg_pool2d": [call(IMAGE, 2), call(IMAGE, 3, 2, 1, True, False)],
    "adaptive_avg_pool2d": [call(IMAGE, 3), call(IMAGE, (None, 1))],
    **{f"max_unpool{n}d": _maxima(n) for n in (1, 2, 3)},
    "interpolate": [
        call(SIGNAL, 3), call(IMAGE, scale_factor=2.0), call(VOLUME, 3),
        call(SIGNAL, 6, mode="linear"), call(IMAGE, 6, mode="bilinear", align_corners=True),
        call(IMAGE, 5, mode="bicubic"), call(VOLUME, 5, mode="trilinear"),
        call(IMAGE, 3, mode="area"), call(IMAGE, 3, mode="nearest-exact"),
        call(IMAGE, 3, mode="bilinear", antialias=True),
        call(IMAGE, 3, mode="bicubic", antialias=True), call(SIGNAL, 3, mode="nearest-exact"),
        call(VOLUME, 3, mode="nearest-exact"),
    ],
    "pad": [
        call(X, (1, 2)), call(X, (1, -1, 0, 2), "constant", 0.5),
        *(call(x, (1, 2) * n, mode) for n, x in enumerate(FEW, 1)
          for mode in ("reflect", "replicate", "circular")),
    ],
    "pixel_shuffle": [call(N(1, 4, 2, 2), 2)], "pixel_unshuffle": [call(N(1, 1, 4, 4), 2)],
    "channel_shuffle": [call(N(1, 4, 2), 2)],
    "grid_sample": [
        *(call(IMAGE, U(1, 3, 3, 2), mode, align_corners=False)
          for mode in ("bilinear", "nearest", "bicubic")),
        call(IMAGE, U(1, 3, 3, 2), "bilinear", "border", True),
        call(IMAGE, U(1, 3, 3, 2), "bilinear", "reflection", False),
        call(VOLUME, U(1, 2, 2, 2, 3), align_corners=False),
    ],
    "affine_grid": [call(N(1, 2, 3), (1, 1, 2, 3), align_corners=False),
                    call(N(1, 3, 4), (1, 1, 2, 3, 2), True)],
    "scaled_dot_product_attention": [
        call(Q, K, N(1, 2, 3, 4, seed=2)), call(Q, K, K, is_causal=True),
        call(Q, K, K, N(3, 3)), call(Q, K, K, Constant(np.tri(3) > 0)),
        call(Q, K, K, Constant(np.eye(3)[::-1] + np.eye(3) > 0), is_causal=True),
    ],
    **_every("mse_loss l1_loss smooth_l1_loss huber_loss",
             *_reduced(X, N(2, 3, seed=1))),
    "kl_div": [*_reduced(X, SHARES), call(X, N(2, 3, seed=1), log_target=True)],
    "binary_cross_entropy": [*_reduced(SHARES, TRUTHS), call(SHARES, TRUTHS, P(3))],
    "binary_cross_entropy_with_logits": [
        *_reduced(X, TRUTHS), call(X, TRUTHS, P(3), pos_weight=P(3)),
    ],
    "soft_margin_loss": _reduced(X, SIGNS),
    "nll_loss": [*_reduced(X, I(2, 0)), call(N(1, 2, 2, 3), I([[[0, 1, 1], [1, 0, 1]]])),
                 call(X, I(2, 0), P(3), ignore_index=0)],
    "cross_entropy": [*_reduced(X, I(2, 0)), call(X, SHARES), call(X, I(2, 0), P(3)),
                      call(X, I(2, 0), label_smoothing=0.1)],
    "multi_margin_loss": _reduced(X, I(2, 0)),
    "multilabel_margin_loss": _reduced(X, I([[2, 0, -1], [1, -1, 0]])),
    "ctc_loss": [call(N(4, 1, 3), I([[1, 2]]), I([4]), I([2]), reduction=each)
                 for each in REDUCTIONS],
    **_every("elu_ relu_ leaky_relu_ hardtanh_ celu_ selu_", call(Constant(X.array))),
}

_LINALG: dict[str, list[Call]] = {
    **_every("cholesky cholesky_ex det inv inv_ex slogdet eigh eigvalsh matrix_exp", call(REAL)),
    **_every("qr svd svdvals pinv", call(TALL)),
    "cond": [call(REAL), call(REAL, 1)], "cross": [call(X, N(2, 3, seed=1)), call(X, X, dim=1)],
    "diagonal": [call(X), call(N(2, 3, 4), offset=1, dim1=0, dim2=2)],
    "eigh": [call(REAL), call(REAL, "U")],
    "qr": [call(TALL), call(TALL, "r"), call(REAL, "complete")],
    "svd": [call(TALL, False), call(REAL)],
    "householder_product": [call(TALL, N(3))],
    "lstsq": [call(TALL, N(4, 2)), call(TALL, N(4, 2), driver="gelsd")],
    **_every("lu lu_factor lu_factor_ex", call(REAL), call(TALL)),
    "lu_solve": [call(LOWER, PIVOTS, N(3, 2)), call(LOWER, PIVOTS, N(2, 3), left=False)],
    "matrix_norm": [
        call(X), call(X, 1), call(X, -INF, (1, 0), True), call(X, "nuc"), call(X, 2),
    ],
    "matrix_power": [call(REAL, each) for each in (0, 1, 3, -2)],
    "matrix_rank": [call(REAL), call(REAL, hermitian=True)],
    "multi_dot": [call([N(2, 3), N(3, 4), N(4, 2)]), call([N(3), N(3, 4), N(4)])],
    "norm": [call(X), call(X, 2), call(X, "nuc"), call(X, 1, 0, True), call(X, dim=(0, 1))],
    "pinv": [call(TALL), call(REAL, hermitian=True)],
    **_every("solve solve_ex", call(REAL, N(3, 2)), call(REAL, N(3)),
             call(REAL, N(3, 3), left=False)),
    "solve_triangular": [
        call(LOWER, N(3, 2), upper=False), call(LOWER, N(2, 3), upper=True, left=False),
    ],
    "tensorinv": [call(N(4, 2, 2), 1)], "tensorsolve": [call(N(2, 2, 4), N(2, 2))],
    "vander": [call(N(3)), call(N(2, 3), N=2)],
    "vecdot": [call(X, N(2, 3, seed=1)), call(X, X, dim=0)],
    "vector_norm": [
        call(X), call(X, 1, 0), call(X, 3, 1, True), call(X, INF, (0, 1)), call(X, 0),
    ],
}
# fmt: on

_SPECIAL: dict[str, list[Call]] = {
    **_every("i0e i1 i1e log_ndtr ndtr erfcx sinc expit exp2 expm1 erf erfc round", call(X)),
    **_every("entr psi digamma gammaln log1p", call(P(2, 3))),
    **_every("ndtri erfinv logit", call(SHARES)),
    **_every("xlog1py xlogy", call(X, P(2, 3)), call(2.0, P(3)), call(X, 0.5)),
    "polygamma": [call(1, P(3))],
    "multigammaln": [call(Leaf([2.5, 3.0]), 2)],
    **_every("softmax log_softmax logsumexp", call(X, 1)),
}

_FFT: dict[str, list[Call]] = {
    **_every("fftshift ifftshift irfft hfft irfft2 hfft2 irfftn hfftn", call(N(3, 4))),
    "irfft": [call(N(3, 4)), call(N(3, 4), 5, 0, "ortho")],
    "hfft": [call(N(3, 4), 3, -1, "forward")],
}

_TOP: dict[str, list[Call]] = {
    **_every("cholesky logdet det slogdet inverse matrix_exp", call(REAL)),
    "cholesky_inverse": [call(LOWER), call(LOWER, True)],
    "cholesky_solve": [call(N(3, 2), LOWER), call(N(3, 2), LOWER, True)],
    "lu_solve": [call(N(3, 2), LOWER, PIVOTS)], "lu_unpack": [call(LOWER, PIVOTS)],
    "ormqr": [call(TALL, N(3), N(4, 2))], "pinverse": [call(TALL)],
    "qr": [call(TALL)], "svd": [call(TALL)], "matrix_power": [call(REAL, 2)],
    "triangular_solve": [call(N(3, 2), LOWER, upper=False)],
    **_every("relu selu sigmoid", call(X)), "celu": [call(X)], "threshold": [call(X, 0.1, 2.0)],
    "hardshrink": [call(X)], "prelu": [call(X, N(1))],
    "native_layer_norm": [call(X, (3,), N(3), N(3, seed=1), 1e-5)],
    "native_group_norm": [call(N(2, 4, 3), N(4), N(4, seed=1), 2, 4, 3, 2, 1e-5)],
    "native_batch_norm": [call(N(4, 2), N(2), N(2, seed=1), None, None, True, 0.1, 1e-5)],
    "batch_norm": [call(N(4, 2), N(2), N(2, seed=1), None, None, True, 0.1, 1e-5, False)],
    "layer_norm": [call(X, (3,), N(3), N(3, seed=1))], "group_norm": [call(N(2, 4, 3), 2)],
    "rms_norm": [call(X, (3,))],
    "embedding": [call(N(3, 4), I(2, 0))], "pairwise_distance": [call(X, N(2, 3, seed=1))],
    "cosine_similarity": [call(X, N(2, 3, seed=1))],
    **_every("isposinf isneginf signbit isfinite",
             call(Constant([1.0, INF, -INF, -0.0, math.nan]))),
    **_every("bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift",
             call(I(6, 5, 3), I(3, 1, 2)), call(I(6, 5, 3), 2)),
    "bitwise_not": [call(I(6, -5, 3))], "not_equal": [call(*BOTH)],
    "histc": [call(Constant([0.5, 1.0, 2.5]), 3), call(Constant([0.5, 1.0]), 2, 0, 2)],
    "isin": [call(I(1, 2, 3), I(2, 4))], "unique_consecutive": [call(I(1, 1, 2, 1), True, True)],
    "nanmedian": [call(X, 1)], "frexp": [call(X)],
    "mvlgamma": [call(Leaf([2.5, 3.0]), 2)], "polygamma": [call(2, P(3))],
    "logaddexp": [call(*BOTH)], "hypot": [call(*BOTH)], "lerp": [call(X, N(3), 0.3)],
    "addcmul": [call(X, N(3), P(2, 1)), call(X, N(3), P(2, 1), value=2)],
    "square_": [call(Constant(X.array))], "clamp_": [call(Constant(X.array), 0, 1)],
    "index_put_": [call(Constant(X.array), (I(1, 0), I(0, 2)), Constant(1.5))],
    **_every("add sub mul div pow fmod remainder maximum minimum", call(X, N(3))),
    **_every("add sub", call(X, N(3), alpha=2), call(X, 2, alpha=3)),
    **_every("mul div fmod remainder floor_divide true_divide", call(X, N(3)), call(X, 2)),
    "floor_divide": [call(Constant([7.0, -7.0]), Constant([2.0, 2.0])), call(I(7, -7), 2)],
    "renorm": [call(X, 2.0, 0, 0.8)], "conv1d": [call(SIGNAL, N(4, 2, 2))],
    "baddbmm": [call(N(2, 2, 4), N(2, 2, 3), N(2, 3, 4))],
}  # fmt: skip


def _all(top: dict[str, list[Call]], **spaces: dict[str, list[Call]]) -> dict[str, list[Call]]:
    """The calls of all namespaces, by full names."""
    named = {
        f"{space.replace('functional', 'nn.functional')}.{name}": calls
        for space, table in spaces.items()
        for name, calls in table.items()
    }
    return named | top


FURTHER = _all(_TOP, functional=_FUNCTIONAL, linalg=_LINALG, special=_SPECIAL, fft=_FFT)

# Options of windows, losses and matrices, each tried as it stands: not over the grid.

# fmt: off
_PLAIN_FUNCTIONAL: dict[str, list[Call]] = {
    "linear": [call(N(*(2, 4, 3, 5)[-rank:]), N(2, 5), *bias)
               for rank in (1, 2, 3, 4) for bias in ((), (N(2),))],
    **{f"conv{n}d": [call(x, N(2, 2, *[3, 2, 1][:n]), padding="same"),
                     call(x, N(2, 2, *[2] * n), padding="valid"),
                     call(N(2, *[5, 4, 3][:n]), N(2, 2, *[2] * n), dilation=2)]
       for n, x in enumerate(FEW, 1)},
    **{f"conv_transpose{n}d": [
            call(N(2, *[5, 4, 3][:n]), N(2, 2, *[3, 2, 1][:n]), dilation=2),
            *(call(x, N(2, 2, *[3, 2, 2][:n]), N(2 * groups), step, pad, extra, groups, dilation)
              for step, dilation, groups in ((1, 2, 1), (1, 3, 2), (2, 3, 1), (2, 5, 1))
              for pad in (0, 1, 2) for extra in range(dilation))]
       for n, x in enumerate(FEW, 1)},
    "unfold": [call(N(2, 4, 4), 2, 2, stride=2)],
    "fold": [call(N(8, 9), 4, 2), call(N(2, 8, 9), 5, 2, 1, 1, 2)],
    **{f"max_pool{n}d": [call(x, 3, 1, 1, return_indices=True), call(x, 3, 2, 1, ceil_mode=True),
                         call(x, 2, dilation=2, ceil_mode=True)]
       for n, x in enumerate(FEW, 1)},
    **{f"avg_pool{n}d": [call(x, 3, 2, 1, ceil, include) for ceil in (False, True)
                         for include in (False, True)]
       for n, x in enumerate(FEW, 1)},
    **{f"adaptive_{kind}_pool{n}d": [call(x, 3), call(x, 1)]
       for n, x in enumerate(FEW, 1) for kind in ("avg", "max")},
    "avg_pool2d": [call(IMAGE, (2, 3)), call(IMAGE, (2, 3), divisor_override=5),
                   *(call(IMAGE, 3, 2, 1, ceil, each) for ceil, each in
                     ((False, True), (True, True), (False, False)))],
    "adaptive_max_pool2d": [call(IMAGE, (4, 3), return_indices=True)],
    "interpolate": [
        *(call(x, mode=mode, **size)
          for x, modes in ((SIGNAL, "nearest nearest-exact linear area"),
                           (IMAGE, "nearest nearest-exact bilinear bicubic area"),
                           (VOLUME, "nearest trilinear area"))
          for mode in words(modes)
          for size in ({"scale_factor": 2}, {"size": 3}, {"scale_factor": 1.7})),
        *(call(x, 7, mode=mode, align_corners=True)
          for x, mode in ((SIGNAL, "linear"), (IMAGE, "bicubic"), (VOLUME, "trilinear"))),
        *(call(IMAGE, 8, mode=mode, antialias=True) for mode in ("bilinear", "bicubic")),
    ],
    "pad": [
        *(call(x, (1, 2, 0, 1, 2, 1)[:2 * n], mode) for n, x in enumerate(FEW, 1)
          for mode in ("reflect", "replicate", "circular")),
        call(N(2, 4, 4), (1, 2, 0, 1), "reflect"),
        *(call(SIGNAL, each, mode) for mode in ("circular", "reflect", "replicate", "constant")
          for each in ((-1, 1), (1, -1), (-1, -1), (3, 0), (4, 0), (-1, 2), (0, -3), (-2, 1))),
        *(call(IMAGE, (-1, 2, 1, -1), mode) for mode in ("circular", "reflect", "replicate")),
    ],
    "grid_sample": [
        call(x, place, mode, padding, align)
        for x, place in ((IMAGE, N(1, 3, 3, 2)), (VOLUME, N(1, 2, 2, 2, 3)))
        for mode in ("bilinear", "nearest", "bicubic")[:7 - len(x.array.shape)]
        for padding in ("zeros", "border", "reflection") for align in (True, False)
    ],
    "affine_grid": [call(N(2, 2, 3), (2, 3, 1, 5), each) for each in (True, False)],
    "ctc_loss": [
        *(call(SCORES, TEXTS, I([6, 4, 5]), I(lengths), blank, each) for blank in (0, 3)
          for lengths in ([3, 2, 3], [0, 2, 1]) for each in REDUCTIONS),
        call(SCORES, I(1, 2, 2, 2, 1), I([6, 4, 5]), I([3, 2, 0])),
        call(SCORES, TEXTS, I([6, 4, 3]), I([3, 2, 3]), 0, "sum", True),
    ],
    **_every("mse_loss l1_loss huber_loss", call(X, N(2, 3, seed=1), weight=SHARES)),
    "smooth_l1_loss": [call(X, N(2, 3, seed=1), beta=0.0), call(X, N(2, 3, seed=1), beta=0.3)],
    "huber_loss": [call(X, N(2, 3, seed=1), delta=0.3)],
    "kl_div": [call(X, SHARES, reduction="batchmean")],
    "binary_cross_entropy": [call(SHARES, TRUTHS, WEIGHT)],
    "binary_cross_entropy_with_logits": [
        call(X, TRUTHS, WEIGHT), call(X, TRUTHS, pos_weight=WEIGHT),
    ],
    "nll_loss": [call(X, I(2, 0), WEIGHT)],
    "cross_entropy": [
        call(X, SHARES, WEIGHT), call(X, SHARES, label_smoothing=0.1), call(X, I(2, 0), WEIGHT),
        call(X, I(2, 0), WEIGHT, label_smoothing=0.1, ignore_index=2),
    ],
    "multi_margin_loss": [call(X, I(2, 0), weight=WEIGHT), call(X, I(2, 0), p=2, margin=0.5)],
}

_PLAIN_LINALG: dict[str, list[Call]] = {
    **_every("det inv inv_ex slogdet matrix_exp", call(TWO)),
    "cholesky": [call(REAL, upper=True)],
    "eigvalsh": [call(REAL, UPLO="U"), call(Leaf(np.stack([REAL.array] * 2)))],
    **_every("svdvals pinv qr", call(N(2, 2, 3))), "svd": [call(N(2, 2, 3), False)],
    "cond": [call(REAL, p) for p in (None, 2, -2, "nuc", "fro", -1, INF, -INF)],
    "cross": [call(N(3), N(3, seed=1)), call(X, N(1, 3)),
              call(N(3, 2), N(3, 2, seed=1), dim=0)],
    "householder_product": [call(N(2, 4, 3), N(2, 2))],
    "lstsq": [call(X, N(2, 2)), call(N(2, 4, 3), N(2, 4, 2))],
    **_every("lu lu_factor lu_factor_ex", call(N(2, 2, 3)), call(TWO)),
    "lu_solve": [call(LOWER, PIVOTS, N(3, 2), adjoint=True),
                 call(LOWER, PIVOTS, N(2, 3), left=False, adjoint=True)],
    "matrix_norm": [
        *(call(N(2, 3, 4), order, keepdim=keep) for keep in (False, True)
          for order in ("fro", "nuc", 2, -2, 1, -1, INF, -INF)),
        call(N(2, 3, 4), 2, (0, 2)), call(N(2, 3, 4), 1, (2, 0)),
    ],
    "matrix_power": [*(call(REAL, each) for each in (-3, -1, 2, 5, 6, 7)), call(TWO, 3)],
    "multi_dot": [
        call([N(2, 3), N(3, 4)]), call([N(2, 3), N(3, 4), N(4, 2), N(2, 5)]),
        call([N(5, 2), N(2, 5), N(5, 5)]), call([N(3), N(3, 4), N(4, 2), N(2)]),
    ],
    "norm": [call(N(3), 1), call(N(2, 3, 2), dim=(1, 2)), call(X, keepdim=True)],
    "pinv": [call(TALL, rtol=0.1)],
    **_every("solve solve_ex", call(TWO, N(2, 3)), call(TWO, N(3, 2)),
             call(REAL, N(2, 3), left=False)),
    "solve_triangular": [call(TWO, N(3, 2), upper=False, unitriangular=True),
                         call(TWO, N(2, 3), upper=False, left=False)],
    "tensorinv": [call(N(4, 6, 8, 3))], "tensorsolve": [call(N(2, 2, 4, 1), N(2, 2))],
    "vecdot": [call(X, N(3))],
    "vector_norm": [
        call(Leaf([0.0, 0.0])),
        *(call(X, order, *more) for order in (2, 1, 3, 0.5, 1.5, INF, -INF)
          for more in ((), (1, True))),
    ],
}

_PLAIN_FFT: dict[str, list[Call]] = {
    **_every("irfft hfft irfft2 hfft2 irfftn hfftn",
             *(call(N(3, 4), norm=norm) for norm in (None, "ortho", "forward"))),
    **_every("fftshift ifftshift", call(N(5)), call(N(3, 4), dim=1)),
    "irfft": [call(N(4), 9), call(N(4), 5)], "hfft": [call(N(4), 3)],
    "hfft2": [call(N(3, 3), (4, 7))], "hfftn": [call(N(3, 4, 5), (2, 4, 6), (2, 0, 1))],
    "irfftn": [call(N(3, 4, 2), dim=(0, 1)), call(N(3, 4, 2), s=(3, 5))],
}

_PLAIN_TOP: dict[str, list[Call]] = {
    "matmul": [
        call(N(*left), N(*right)) for left, right in [
            ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (3, 4)),
            ((2, 2, 3), (3,)), ((2, 3, 4), (2, 4, 2)), ((3, 4), (2, 4, 2)), ((4,), (2, 4, 2)),
            ((2, 1, 3, 4), (3, 4, 2)), ((1, 3, 4), (2, 4, 2)), ((2, 2, 3, 4), (4,)),
        ]
    ],
    "lu": [call(REAL)],
    "lu_unpack": [call(N(2, 3), Constant(np.array([2, 2], np.int32))),
                  call(N(3, 2), Constant(np.array([3, 2], np.int32)))],
    "ormqr": [call(N(3, 3), N(3), N(2, 3), left=False, transpose=True)],
    "triangular_solve": [call(N(3, 2), LOWER), call(N(3, 2), LOWER, upper=False, transpose=True)],
}
# fmt: on

PLAIN = _all(
    _PLAIN_TOP,
    functional=_PLAIN_FUNCTIONAL,
    linalg=_PLAIN_LINALG,
    special=_every("i1 i1e", call(Leaf([0.0]))),
    fft=_PLAIN_FFT,
)
