"""What stands in generated code instead of a derivative rule computes what the rule computes."""

from __future__ import annotations

import numpy as np
import pytest

import autograd_core as torch
from autograd_core.op import OPS
from autograd_core.op.generate import code_text
from autograd_core.op.literals import inlined

INLINED = [
    (name, edge)
    for name, op in sorted(OPS.items())
    for edge in op.edges
    if inlined(op, edge, op.rules[edge].names if op.joint is None else ()) is not None
]


@pytest.mark.parametrize(("name", "edge"), INLINED)
def test_what_is_inlined_gives_the_bits_of_the_rule(name: str, edge: str) -> None:
    rule = OPS[name].rules[edge]
    found = inlined(OPS[name], edge, rule.names)
    assert found is not None
    text, numbers = found
    rng = np.random.default_rng(7)
    arrays = {each: rng.uniform(0.01, 0.99, 1000).astype(np.float32) for each in rule.names}
    expected = rule.function(*arrays.values())
    constants = {name: np.array(number, np.float32) for name, number in numbers.items()}
    given = eval(text, {**constants, **arrays})
    assert given.dtype == expected.dtype == np.float32
    assert given.tobytes() == expected.tobytes()


def test_the_rules_that_training_runs_most_are_inlined() -> None:
    assert {("tanh", "self"), ("sigmoid", "self"), ("mul", "self"), ("mul", "other")} <= set(
        INLINED
    )
    assert "g_self = g * (self_number_0 - (result * result))" in code_text(OPS["tanh"])


@pytest.mark.parametrize(
    ("name", "edge", "reason"),
    [
        ("add", "self", "passes the gradient on"),
        ("relu", "self", "calls another op"),
        ("pow_number", "self", "decides by an attribute"),
    ],
)
def test_other_rules_are_called(name: str, edge: str, reason: str) -> None:
    assert inlined(OPS[name], edge, OPS[name].rules[edge].names) is None, reason


def test_doubles_and_scalars_are_computed_with_plain_numbers() -> None:
    for x in (torch.tensor([0.5, 2.0], dtype=torch.float64), torch.tensor(0.5)):
        x.requires_grad_()
        x.tanh().sum().backward()
        assert x.grad.dtype is x.dtype
        expected = 1 - np.tanh(x.array) ** 2
        assert np.allclose(x.grad.array, expected, rtol=1e-6, atol=0)
