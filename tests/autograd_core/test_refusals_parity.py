"""Calls that are a little wrong, or by names seldom used: PyTorch's answer, word by word."""

from __future__ import annotations

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.side_by_side import evaluated

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

CALLS = [
    "t.ones(4, 2).split(split_size=[1, 3], dim=0)[1]",
    "t.ones(8).split(split_size=3)[2]",
    "t.ones(1, 2).view(size=(2,))",
    "t.ones(1, 2).reshape(shape=(2,))",
    "t.ones(1, 2).expand(size=(3, 2))",
    "t.ones(1, 2).permute(dims=(1, 0))",
    "t.ones(1, 2).repeat(repeats=(3, 2))",
    *(
        f"t.{name}(t.ones(2, dtype=t.{kind}), out=t.zeros(2, dtype=t.{out}))"
        for name in ("neg", "abs", "ceil", "sign", "trunc", "negative", "exp", "sin")
        for kind, out in (("int64", "float32"), ("float32", "float64"), ("float32", "int64"))
        if name not in ("exp", "sin") or out != "int64"
    ),
    *(f"t.{name}(t.tensor(2.0), dim=1)" for name in ("cummax", "cummin", "cumsum", "cumprod")),
    "t.roll(t.ones(2, 3), (1, 2))",
    "t.roll(t.ones(2, 3), (1,), (0, 1))",
    "t.roll(t.ones(2, 3), ())",
    "t.ones(6).unfold(0, 2, -1)",
    "t.ones(6).unfold(0, 2, 0)",
    "t.ones(6).unfold(0, 7, 1)",
    "t.flipud(t.tensor(1.0))",
    "t.fliplr(t.ones(2))",
    "t.flip(t.ones(2, 2), (0, 0))",
    "t.ones(2, 2).flip(0, 0)",
    "t.flip(t.ones(2, 2), (2,))",
    "np.ones(2) * t.ones(2)",
    "np.ones(2) + t.ones(2, requires_grad=True)",
    "np.ones(2) - t.ones(2)",
    "np.ones(2) / t.ones(2)",
    "np.ones(2) ** t.ones(2)",
    "np.ones(2) // t.ones(2)",
    "np.ones(2) % t.ones(2)",
    "np.ones(2) @ t.ones(2)",
    "np.float64(2) * t.ones(2)",
    "t.ones(2) * np.ones(2)",
]


@pytest.mark.parametrize("text", CALLS)
def test_an_odd_call_is_answered_as_in_pytorch(text: str) -> None:
    mine, theirs = (evaluated(namespace, text) for namespace in (autograd_core, torch))
    assert mine.error == theirs.error
    if theirs.result is not None:
        assert repr(mine.result.dtype) == repr(theirs.result.dtype)
        np.testing.assert_allclose(mine.result.numpy(), theirs.result.numpy(), 1e-6)
