"""Where a derivative is a convention: at kinks, among equals, at NaN; held to PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.side_by_side import compare_call

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NAN = float("nan")
POINTS = {
    "zeros": np.zeros(3),
    "kinks": np.array([1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 6.0]),
    "equals": np.array([2.0, 1.0, 2.0]),
    "a NaN": np.array([1.0, NAN, 3.0]),
    "NaNs": np.array([NAN, 2.0, NAN, 1.0]),
    "only NaNs": np.array([NAN, NAN, NAN]),
}
UNARY = (
    "abs sign relu sinc angle nan_to_num round frac trunc ceil floor "
    "nn.functional.relu6 nn.functional.hardtanh nn.functional.hardswish nn.functional.hardshrink "
    "nn.functional.softshrink nn.functional.leaky_relu nn.functional.elu nn.functional.celu "
    "nn.functional.selu nn.functional.gelu nn.functional.silu nn.functional.mish "
    "nn.functional.softplus nn.functional.logsigmoid "
    "max min median nanmedian amax amin aminmax nansum nanmean norm var std"
)
ALONG = "max min median nanmedian amax amin logsumexp cummax cummin sort nansum nanmean var std"
CALLS = [
    *(f"t.{name}(x)" for name in UNARY.split()),
    *(f"t.{name}(x, -1)" for name in ALONG.split()),
    *(f"t.linalg.vector_norm(x, {p})" for p in ("0", "0.5", "1", "2", "3", "t.inf", "-t.inf")),
    *(f"t.linalg.vector_norm(x, {p}, -1)" for p in ("0.5", "1", "2", "3", "t.inf", "-t.inf")),
    *(
        f"t.scatter_reduce({x}, 0, zeros, {src}, '{reduce}', include_self={itself})"
        for x, src in (("x", "x * 1"), ("x", "ones"), ("ones", "x"))
        for reduce in ("sum", "prod", "mean", "amax", "amin")
        for itself in (True, False)
    ),
    *(
        f"t.index_reduce(x, 0, zeros, x * 1, '{reduce}', include_self={itself})"
        for reduce in ("prod", "mean", "amax", "amin")
        for itself in (True, False)
    ),
    *(f"t.{name}(x, x.flip(0) * 1)" for name in ("maximum", "minimum", "fmax", "fmin", "hypot")),
    "t.atan2(x, x)",
    "(x * 0).pow(x) * t.inf",
    "0 ** x * t.inf",
    "t.nn.functional.batch_norm(x[:0], None, None, ones[:1], training=True)",
    "t.atan2(x, x * 0)",
    "t.atan2(x * 0, x)",
    "t.clamp(x, 0.5, 1.0)",
    "t.heaviside(x.detach(), ones)",
    "t.nn.functional.threshold(x, 0.5, 20.0)",
    "t.nn.functional.adaptive_max_pool1d(x.reshape(1, 1, -1), 1)",
    "t.nn.functional.max_pool1d(x.reshape(1, 1, -1), 2)",
    "t.nn.functional.huber_loss(x, t.zeros_like(x.detach()))",
    "t.nn.functional.huber_loss(x, t.zeros_like(x.detach()), delta=0.5)",
    "t.nn.functional.smooth_l1_loss(x, t.zeros_like(x.detach()))",
    "t.nn.functional.smooth_l1_loss(x, t.zeros_like(x.detach()), beta=0.5)",
    "t.nn.functional.l1_loss(x, t.zeros_like(x.detach()))",
    "t.xlogy(x, x)",
    "x ** 0",
    "x ** 2",
]


def names(t: Any, x: Any) -> dict[str, Any]:
    return {"zeros": t.zeros(len(x), dtype=t.int64), "ones": t.ones(len(x), dtype=x.dtype)}


@pytest.mark.sampled(40)
@pytest.mark.parametrize("text", CALLS)
def test_derivatives_at_kinks_among_equals_and_at_nan_are_those_of_pytorch(text: str) -> None:
    for point in POINTS.values():
        # of a product of several zeros there is none
        twice = "prod" not in text or point.tolist().count(0) < 2
        compare_call(torch, text, point, names, second=twice)


REDUCED = [
    *(
        f"t.scatter_reduce(x, 0, zeros, src, '{reduce}', include_self={itself})"
        for reduce in ("prod", "mean", "amax", "amin")
        for itself in (True, False)
    ),
    *(
        f"t.index_reduce(x, 0, zeros, src, '{reduce}', include_self={itself})"
        for reduce in ("prod", "mean", "amax", "amin")
        for itself in (True, False)
    ),
]


@pytest.mark.sampled(30)
@pytest.mark.parametrize("text", REDUCED)
@pytest.mark.parametrize("x", [[0.0, 2.0, 3.0], [2.0, 0.5, 1.0]])
@pytest.mark.parametrize("src", [[1.5, 0.0, 2.0], [0.5, 2.0, 2.0], [2.0, 2.0, 0.5]])
def test_factors_of_zero_have_the_second_derivatives_of_pytorch(
    text: str, x: list[float], src: list[float]
) -> None:
    """Both inputs depend on the leaf, as its two halves."""
    halves = text.replace("src", "x[3:]").replace("(x,", "(x[:3],")
    compare_call(torch, halves, np.array([*x, *src]), lambda t, x: {"zeros": t.zeros(3).long()})


def test_two_factors_of_zero_in_one_place_have_no_second_derivative() -> None:
    for t in (autograd_core, torch):
        src = t.tensor([0.0, 0.0, 2.0], requires_grad=True)
        found = t.scatter_reduce(t.ones(3), 0, t.zeros(3).long(), src, "prod")
        (g,) = t.autograd.grad(found.sum(), src, create_graph=True)
        with pytest.raises(RuntimeError, match="Double backward is unsupported for src when >1"):
            (g**2).sum().backward()


EQUAL_VALUES = {
    "eye": np.eye(3),
    "two alike": np.diag([1.0, 1.0, 2.0]),
    "a batch": np.array([np.eye(2), [[2.0, 1.0], [1.0, 3.0]]]),
    "all different": np.array([[2.0, 1.0], [1.0, 3.0]]),
}


@pytest.mark.parametrize("point", EQUAL_VALUES.values(), ids=EQUAL_VALUES)
@pytest.mark.parametrize(
    "text",
    [
        "t.linalg.eigh(x)[0]",
        "t.linalg.eigh(x)[1] ** 2",
        "t.linalg.eigh(x)[1][..., 0, 0] ** 2",
        "t.linalg.eigvalsh(x)",
        "t.linalg.svd(x, False)[1]",
        "t.linalg.svd(x, False)[0] ** 2",
        "t.linalg.svdvals(x)",
        "t.linalg.matrix_norm(x, 'nuc')",
    ],
)
def test_equal_eigenvalues_make_the_gradient_of_vectors_nan(text: str, point: Any) -> None:
    compare_call(torch, text, point)


KINDS = ("int8", "uint8", "int32", "int64", "float16", "float32", "float64")


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_at_equal_steps_are_those_of_pytorch_to_the_last_bit(kind: str) -> None:
    for start, end in ((5, -5), (0, 10), (-3, 4), (1, 100), (0.5, 5.7), (-0.5, 3.9), (7, 7)):
        if kind == "uint8" and min(start, end) < 0:
            continue
        for steps in (0, 1, 2, 3, 5, 7, 20, 33, 50, 64, 101):
            mine, theirs = (
                t.linspace(start, end, steps, dtype=getattr(t, kind)).numpy()
                for t in (autograd_core, torch)
            )
            np.testing.assert_array_equal(mine, theirs)
