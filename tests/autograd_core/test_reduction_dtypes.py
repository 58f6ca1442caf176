"""The dtypes that sums, products, means and norms are computed in, held to PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_core
from tests.autograd_core.side_by_side import Outcome, assert_same_outcome, described, evaluated

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

KINDS = ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]
DATA = {
    "float64": "[[1.7, -2.3, 0.0], [0.5, float('nan'), 100.0]]",
    "float32": "[[1.7, -2.3, 0.0], [0.5, float('nan'), 100.0]]",
    "float16": "[[1.75, -2.25, 0.0], [0.5, float('nan'), 100.0]]",
    "int64": "[[100, 27, 3], [-100, 5, 60000]]",
    "int32": "[[100, 27, 3], [-100, 5, 60000]]",
    "int16": "[[100, 27, 3], [-100, 5, 30000]]",
    "int8": "[[100, 27, 3], [-100, 5, 100]]",
    "uint8": "[[100, 27, 3], [200, 5, 100]]",
    "bool": "[[True, False, True], [True, True, True]]",
}
WAYS = [
    "x.sum({d})", "x.sum(0, {d})", "x.sum((0, 1), True, {d})", "x.nansum({d})", "x.nansum(1, {d})",
    "x.prod({d})", "x.prod(1, {d})", "x.cumsum(0, {d})", "x.cumprod(1, {d})", "x.mean({d})",
    "x.mean(1, {d})", "x.nanmean({d})", "x.softmax(0, {d})", "x.log_softmax(1, {d})",
    "t.softmax(x, 1, {k})", "t.nn.functional.softmax(x, 0, {d})",
    "t.nn.functional.log_softmax(x, 0, {d})",
    "t.special.softmax(x, 0, {d})", "x.norm({d})", "t.norm(x, 1, 0, {d})", "t.linalg.norm(x, {d})",
    "t.linalg.norm(x, 1, {d})", "t.linalg.vector_norm(x, 3, 1, {d})",
    "t.linalg.matrix_norm(x, {d})", "t.linalg.matrix_norm(x, 1, {d})", "x.clone().cumsum_(0, {d})",
    "x.clone().cumprod_(0, {d})",
]  # fmt: skip


def both(text: str, kind: str, requires_grad: bool = False) -> tuple[Outcome, Outcome]:
    def found(t: Any) -> Outcome:
        x = t.tensor(eval(DATA[kind]), dtype=getattr(t, kind), requires_grad=requires_grad)
        return evaluated(t, text, x=x)

    return found(autograd_core), found(torch)


@pytest.mark.sampled(40)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_reduction_is_computed_in_the_dtype_that_is_asked_for(kind: str, way: str) -> None:
    for target in [None, *(f"t.{each}" for each in KINDS)]:
        text = way.format(d=f"dtype={target}", k=target)
        if "nan" in DATA[kind] and target and "float" not in target and "nan" not in way:
            continue  # which number a NaN becomes is C's choice
        rough = kind == "float16" or "float16" in text
        assert_same_outcome(*both(text, kind), *((5e-3, 5e-3) if rough else (1e-5, 1e-6)))


DIFFERENTIABLE = [way for way in WAYS if "_(" not in way]


@pytest.mark.parametrize("way", DIFFERENTIABLE)
def test_the_gradient_has_the_dtype_of_the_input(way: str) -> None:
    found = []
    for t in (autograd_core, torch):
        x = t.tensor([[1.5, -2.0, 0.5], [3.0, 0.25, 4.0]], requires_grad=True)
        result = eval(way.format(d="dtype=t.float64", k="t.float64"), {"t": t, "x": x})
        assert result.dtype is t.float64
        (result * result).sum().backward()
        assert x.grad.dtype is t.float32
        found.append((described(result.grad_fn), x.grad.flatten().tolist()))
    assert found[0][0] == found[1][0]
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-5)


@pytest.mark.parametrize("way", ["sum", "sum(0)", "prod", "prod(0)", "cumsum(0)", "nansum", "mean"])
def test_whole_numbers_have_no_gradient(way: str) -> None:
    call = way.replace(")", ", dtype=t.int64)") if "(" in way else f"{way}(dtype=t.int64)"
    assert_same_outcome(*both(f"x.{call}", "float32", requires_grad=True))


OVERFLOWING = [
    "t.full((10,), 10000.0, dtype=t.float16).mean()",
    "t.full((10,), 300.0, dtype=t.float16).norm()",
    "t.full((9,), 10000.0, dtype=t.float16).cumsum(0)",
    "t.full((70000,), 1.0, dtype=t.float16).mean()",
    "t.full((10,), 10000.0, dtype=t.float16).sum(dtype=t.float32)",
    "t.full((5, 10), 10000.0, dtype=t.float16).mean(1)", "t.tensor([2**62, 4]).prod()",
    "t.tensor([2**62, 2**62]).sum()", "t.tensor([100, 100], dtype=t.int8).cumsum_(0)",
]  # fmt: skip


@pytest.mark.parametrize("text", OVERFLOWING)
def test_what_is_too_large_on_the_way_is_as_in_pytorch(text: str) -> None:
    assert_same_outcome(evaluated(autograd_core, text), evaluated(torch, text), rtol=1e-3)


REFUSED = [
    "t.exp(t.ones(2), dtype=t.float64)", "t.amax(t.ones(2), dtype=t.float64)",
    "t.logsumexp(t.ones(2), 0, dtype=t.float64)", "t.ones(2).argmax(dtype=t.int32)",
    "t.add(t.ones(2), 1, dtype=t.float64)", "t.cat([t.ones(2)], dtype=t.float64)",
    "t.nn.functional.mse_loss(t.ones(2), t.ones(2), dtype=t.float64)",
    "t.logcumsumexp(t.tensor([1, 2]), 0)", "t.softmax(t.ones(2, 2, dtype=t.int64), 0)",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_functions_without_a_dtype_take_none(text: str) -> None:
    mine, theirs = evaluated(autograd_core, text), evaluated(torch, text)
    assert theirs.error
    assert_same_outcome(mine, theirs)
