"""Every operator over a grid of odd arguments: what PyTorch answers, but for a list of reasons.

All of it, in some minutes::

    python -m pytest -q -m "torch and slow" tests/autograd_core/test_op_grid.py
"""

from __future__ import annotations

import re
from typing import Any

import pytest

import autograd_core
from autograd_core.op import OPS
from tests.autograd_core.finite_differences import can_be_differentiated, wrong_derivatives
from tests.autograd_core.known_differences import DECIDED, KNOWN
from tests.autograd_core.op_grid import EVERY, answer, compared, differences, variants
from tests.autograd_core.op_samples.table import samples_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

STEP = 71  # of the numbers of variants in the small sample: no grid of a call has this period
PARTS = [list(EVERY)[start::10] for start in range(10)]
KNOWN_OF = {
    path: [
        (reason, re.compile(label), re.compile(what))
        for reason, entries in KNOWN.items()
        for functions, label, what in entries
        if functions == "*" or path in functions.split()
    ]
    for path in EVERY
}


def reasons(path: str, label: str, difference: str) -> list[str]:
    """Why the difference is there on purpose; none if it is not."""
    return [
        reason
        for reason, labels, what in KNOWN_OF[path]
        if labels.search(label) and what.search(difference)
    ]


def unexplained(path: str, step: int, start: int = 0) -> list[str]:
    found = []
    for label, apart in compared(torch, autograd_core, path, lambda number: number % step == start):
        for each in apart:
            if not reasons(path, label, each):
                found.append(f"{path} [{label}] {each}")
    return found


@pytest.mark.sampled(5)
@pytest.mark.parametrize("paths", PARTS, ids=lambda paths: f"{paths[0]} and others")
def test_a_sample_of_odd_calls_is_answered_as_in_pytorch(paths: list[str]) -> None:
    assert not [
        each
        for number, path in enumerate(EVERY)
        if path in paths
        for each in unexplained(path, STEP, number % STEP)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", EVERY)
def test_every_odd_call_is_answered_as_in_pytorch(path: str) -> None:
    assert not unexplained(path, 1)


DECIDED_PATHS = sorted(
    {path for reason in DECIDED for paths, _, _ in KNOWN[reason] for path in paths.split()}
)


# The gradient of `ctc_loss` is right behind a log_softmax only, in both libraries.
@pytest.mark.sampled(10)
@pytest.mark.parametrize("path", [path for path in DECIDED_PATHS if "ctc" not in path])
def test_where_pytorch_is_said_to_be_wrong_finite_differences_decide(path: str) -> None:
    """On the plain call, and on every variant that differs for no other reason than that the
    gradient of PyTorch is wrong."""
    looked_at, wrong = 0, []
    for call in EVERY[path]:
        for label, variant in variants(torch, path, call):
            if not can_be_differentiated(variant) or label.startswith("out "):
                continue
            if label != "plain" and not _is_decided(path, label, variant):
                continue
            some, found = wrong_derivatives(autograd_core, path, variant)
            looked_at += some
            wrong += [f"{path} [{label}] {each}" for each in found]
    assert not wrong
    assert looked_at


def _is_decided(path: str, label: str, variant: Any) -> bool:
    found = differences(*(answer(t, path, variant, []) for t in (autograd_core, torch)))
    why = [set(reasons(path, label, each)) for each in found]
    return any(each and each <= set(DECIDED[1:]) for each in why)


def test_the_list_of_differences_names_functions_of_the_grid() -> None:
    named = {
        function
        for entries in KNOWN.values()
        for functions, _, _ in entries
        if functions != "*"
        for function in functions.split()
    }
    assert named <= set(EVERY)


def test_a_difference_that_no_reason_explains_is_told() -> None:
    assert reasons("add", "plain", "result 0 values: [1.0] | [2.0]") == []


# Ops that no call of a user leads to by itself: parts of the gradients of others.
INNER = {
    "select_backward", "slice_backward", "diagonal_backward", "unfold_backward",
    "as_strided_backward", "embedding_backward", "nll_loss_backward", "nll_loss2d_backward",
    "max_pool_backward", "avg_pool_backward", "weight_norm",
    "unsafe_split",  # of a step of recurrent networks
}  # fmt: skip


def test_the_grid_reaches_the_public_ops_of_the_table() -> None:
    """By the names of the nodes that its calls make."""
    made: set[str] = set()
    for path in EVERY:
        for results in plain_results(path):
            made |= {each.grad_fn.name() for each in results if each.grad_fn is not None}
    missing = {
        entry.node_name
        for name, entry in OPS.items()
        if entry.edges and samples_of(entry) and name == entry.public_name and name not in INNER
        and (hasattr(torch, name) or hasattr(torch.nn.functional, name))
    } - made  # fmt: skip
    assert not missing, sorted(missing)


def plain_results(path: str) -> list[Any]:
    found = []
    for call in EVERY[path]:
        label, plain = next(iter(variants(torch, path, call)))
        assert label == "plain"
        results = answer(autograd_core, path, plain, []).results
        found.append([each for each in results if isinstance(each, autograd_core.Tensor)])
    return found
