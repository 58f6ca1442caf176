"""Tensors that are empty, or of shapes that do not fit: the same results, or the same refusal."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.misfitting_shapes import GRID
from tests.autograd_core.side_by_side import Outcome, assert_same_outcome, outcome, with_gradients

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def moved(norm: Any, x: Any, mean: Any, var: Any, **options: Any) -> tuple[Any, ...]:
    """The normalized ``x``, and the running statistics after it."""
    return norm(x, mean, var, momentum=0.3, **options), mean, var


def tried(namespace: Any, text: str, shapes: Any) -> Outcome:
    rng = np.random.default_rng(0)
    leaves = [
        namespace.tensor(
            rng.uniform(-1, 1, each) if isinstance(each, tuple) else each,
            requires_grad=isinstance(each, tuple),
        )
        for each in shapes
    ]
    names = {"t": namespace, "F": namespace.nn.functional, "moved": moved}
    values = names | dict(zip("abc", leaves, strict=False))
    return outcome(lambda: with_gradients(namespace, eval(text, values), leaves))


@pytest.mark.sampled(60)
@pytest.mark.parametrize("text", GRID)
def test_what_does_not_fit_does_what_it_does_in_pytorch(text: str) -> None:
    for shapes in GRID[text]:
        mine, theirs = (tried(namespace, text, shapes) for namespace in (autograd_core, torch))
        try:
            assert_same_outcome(mine, theirs, 1e-7, 1e-12)
        except AssertionError as error:
            given = [each if isinstance(each, tuple) else each.tolist() for each in shapes]
            raise AssertionError(f"{given}: {inspect.cleandoc(str(error))}") from error
