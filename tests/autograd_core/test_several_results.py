"""Derivatives of all orders through what has several results: each loop of the engine finds the
same, to the bit, and PyTorch the same to rounding.

More, and other ones every time::

    python -m pytest --hypothesis-profile=full tests/autograd_core/test_several_results.py
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import settings

import autograd_core
import autograd_core.nn.functional as F
from autograd_core.autograd import engine
from autograd_core.autograd.engine import GraphTask, run_node
from tests.autograd_core.derivative_programs import INNER, SEVERAL, Outcome, functions, run

PARTS = 4
EACH = 2 * settings.default.max_examples  # 24, and 4,000 of the profile `full`


def seeds(part: int) -> range:
    start = 0 if settings.default.derandomize else random.randrange(10**9)
    return range(start + part * EACH, start + (part + 1) * EACH)


def by_the_reference(task: GraphTask, start: int = 0, stop: int | None = None) -> None:
    for node in task.order[start:stop]:
        run_node(task, node)


def observed(task: GraphTask, start: int = 0, stop: int | None = None) -> None:
    list(task.observe(start, stop))


def run_by(loop: Callable[..., None] | None, seed: int) -> Outcome:
    """Run the program of ``seed`` by this loop, or by the plain one: sums in place or not."""
    with ExitStack() as changed:
        if loop is None:
            large = 0 if seed % 2 else engine.LARGE
            changed.enter_context(patch.object(engine, "LARGE", large))
        else:
            changed.enter_context(patch.object(GraphTask, "run", loop))
        return run(autograd_core, seed)


@pytest.mark.sampled(2)
@pytest.mark.extra("scipy")
@pytest.mark.parametrize("part", range(PARTS))
def test_the_loops_of_the_engine_find_the_same_derivatives(part: int) -> None:
    for seed in seeds(part):
        plain = run_by(None, seed)
        for loop in (by_the_reference, observed):
            found = run_by(loop, seed)
            assert plain.bits() == found.bits(), f"program {seed}, {loop.__name__}:\n{plain.text}"


@pytest.mark.extra("scipy")
def test_the_programs_reach_every_op_and_function() -> None:
    said = {line for seed in range(PARTS * EACH) for line in run(autograd_core, seed).text.split()}
    assert {*SEVERAL, *functions(autograd_core)} <= said


# Their third derivatives: PyTorch takes the mean and the deviation for constants there.
WRONG_IN_PYTORCH = {
    "layer_norm": lambda x: F.layer_norm(x, (3,), x[0]),
    "batch_norm": lambda x: F.batch_norm(x.mT, None, None, training=True),
}


@pytest.mark.sampled(2)
@pytest.mark.torch
@pytest.mark.parametrize("part", range(PARTS))
def test_pytorch_finds_the_same_derivatives(part: int) -> None:
    torch = pytest.importorskip("torch")
    for seed in seeds(part):
        mine = run(autograd_core, seed, signless=True)
        if WRONG_IN_PYTORCH.keys() & set(mine.text.split()):
            continue
        theirs, moved = (run(torch, seed, far, signless=True) for far in (0.0, 1e-12))
        assert mine.results.keys() == theirs.results.keys(), f"program {seed}:\n{mine.text}"
        for name, other in theirs.results.items():
            if not name.startswith(INNER):
                about = f"program {seed}, {name}:\n{mine.text}"
                assert_close(mine.results[name], other, moved.results[name], about)


def assert_close(mine: Any, theirs: Any, moved: Any, about: str) -> None:
    """The same, within a multiple of what PyTorch's own answer changes where leaves are moved by a
    rounding error or some; undefined for zero."""
    if isinstance(theirs, str) or isinstance(mine, str):
        assert mine == theirs, about
    elif mine is None or theirs is None:
        assert not np.any(theirs if mine is None else mine), about
    else:
        scale, change = np.abs(theirs).max(initial=1), np.abs(moved - theirs).max(initial=0)
        np.testing.assert_allclose(mine, theirs, atol=1e-9 * scale + 100 * change, err_msg=about)


@pytest.mark.parametrize("name", WRONG_IN_PYTORCH)
def test_where_pytorch_is_wrong_finite_differences_decide(name: str) -> None:
    rng = np.random.default_rng(0)
    point, *weights = rng.standard_normal((4, 2, 3))
    step = 1e-5

    def second(array: Any) -> tuple[Any, Any]:
        x = autograd_core.tensor(array, requires_grad=True)
        y = WRONG_IN_PYTORCH[name](x)
        for weight in weights:
            total = (y * autograd_core.tensor(weight.reshape(y.shape))).sum()
            (y,) = (total,) if weight is weights[-1] else gradient(total, x)
        return x, y

    def gradient(total: Any, x: Any) -> Any:
        return autograd_core.autograd.grad(total, x, create_graph=True)

    x, total = second(point)
    (third,) = gradient(total, x)
    moves = step * np.eye(6).reshape(6, 2, 3)
    slopes = [(second(point + d)[1] - second(point - d)[1]).item() / (2 * step) for d in moves]
    np.testing.assert_allclose(third.detach().numpy().ravel(), slopes, rtol=1e-6, atol=1e-6)
