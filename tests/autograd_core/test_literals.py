"""The twins of derivative rules, whose numbers are arrays, compute what the rules compute."""

from __future__ import annotations

import numpy as np
import pytest

import autograd_core as torch
from autograd_core.op import OPS
from autograd_core.op.literals import in_float32

TWINS = [
    (name, edge)
    for name, op in sorted(OPS.items())
    for edge in op.edges
    if in_float32(op, edge) is not None
]


@pytest.mark.parametrize(("name", "edge"), TWINS)
def test_a_twin_gives_the_bits_of_its_rule(name: str, edge: str) -> None:
    rule, twin = OPS[name].rules[edge], in_float32(OPS[name], edge)
    assert twin is not None
    rng = np.random.default_rng(7)
    arrays = [rng.uniform(0.01, 0.99, 1000).astype(np.float32) for _ in rule.names]
    expected, found = rule.function(*arrays), twin(*arrays)
    assert found.dtype == expected.dtype == np.float32
    assert found.tobytes() == expected.tobytes()


def test_the_rules_that_training_runs_most_have_twins() -> None:
    assert {("tanh", "self"), ("sigmoid", "self")} <= set(TWINS)


@pytest.mark.parametrize(
    ("name", "edge", "reason"),
    [
        ("mul", "self", "no number in it"),
        ("relu", "self", "calls another op"),
        ("pow_number", "self", "decides by an attribute"),
    ],
)
def test_other_rules_have_none(name: str, edge: str, reason: str) -> None:
    assert in_float32(OPS[name], edge) is None, reason


def test_doubles_and_scalars_do_without() -> None:
    for x in (torch.tensor([0.5, 2.0], dtype=torch.float64), torch.tensor(0.5)):
        x.requires_grad_()
        x.tanh().sum().backward()
        assert x.grad.dtype is x.dtype
        expected = 1 - np.tanh(x.array) ** 2
        assert np.allclose(x.grad.array, expected, rtol=1e-6, atol=0)
