"""What a node's rules are computed from, and what its forward op took."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_core
from autograd_core.autograd.profiler import profile
from gradstep.console.session import Session
from gradstep.debugger import NodeDetail
from tests.both import on_pytorch


def scalars(torch: Any) -> tuple[Any, Any]:
    return torch.tensor(2.0, requires_grad=True), torch.tensor(-4.0, requires_grad=True)


def told(detail: NodeDetail) -> list[tuple[str, str, str, str | None]]:
    return [
        (term.input, term.rule, term.numbers, None if term.result is None else term.result.text())
        for term in detail.terms
    ]


def test_terms_name_the_numbers_of_a_rule_and_what_came_of_them(torch: Any) -> None:
    a, b = scalars(torch)
    session = Session(a * b * 3.0, names={"a": a, "b": b})
    session.next()
    assert told(session.detail(1)) == [
        ("self", "g · b", "3 · (−4)", None),
        ("other", "g · a", "3 · 2", None),
    ]
    session.next()
    assert told(session.detail(1)) == [
        ("self", "g · b", "3 · (−4)", "−12"),
        ("other", "g · a", "3 · 2", "6"),
    ]
    names = [[name for name, _ in term.values] for term in session.detail(1).terms]
    assert names == [["g", "b"], ["g", "a"]]


def test_a_gradient_that_has_not_arrived_is_unknown_not_zero(torch: Any) -> None:
    a, b = scalars(torch)
    session = Session(a * b * 3.0, names={"a": a, "b": b})
    (by_a, _) = session.detail(1).terms
    assert by_a.values[0] == ("g", None)
    assert (by_a.numbers, by_a.result) == ("", None)


def test_inputs_that_need_no_gradient_have_no_term(torch: Any) -> None:
    a, _ = scalars(torch)
    session = Session(a * torch.tensor(5.0), names={"a": a})
    assert [term.input for term in session.detail(0).terms] == ["self"]


def test_tensors_are_values_not_numbers(torch: Any) -> None:
    w = torch.ones(2, 2, requires_grad=True)
    session = Session((w * w).sum(), names={"w": w})
    (term, _) = session.detail(1).terms
    assert term.numbers == ""
    assert dict(term.values)["w"].text() == "[1, 1, 1, 1]"  # type: ignore[union-attr]


def test_a_hook_changes_what_the_rule_is_given(torch: Any) -> None:
    a, b = scalars(torch)
    y = a * b
    y.register_hook(lambda g: g * 10)
    session = Session(y, names={"a": a, "b": b})
    session.next()
    assert told(session.detail(0))[1] == ("other", "g · a", "10 · 2", "20")


def test_the_cost_of_the_forward_op_is_known_from_a_profile() -> None:
    x = autograd_core.ones(3, requires_grad=True)
    with profile() as measured:
        y = x.exp().sum()
    found = Session(y, measured=measured).detail(1)
    assert found.forward_bytes == 12
    assert found.forward_seconds is not None
    assert found.forward_seconds > 0
    y = x.exp().sum()
    assert Session(y).detail(1).forward_seconds is None


def test_a_profile_that_runs_is_found() -> None:
    x = autograd_core.ones(3, requires_grad=True)
    with profile():
        assert Session(x.exp().sum()).detail(1).forward_bytes == 12


@on_pytorch
def test_a_method_of_a_number_is_no_arithmetic(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    session = Session(x.mean())
    session.jump(1)
    (term,) = session.detail(0).terms
    assert "expand" in term.rule
    assert term.numbers == ""


def test_numbers_that_are_not_real_are_values(torch: Any) -> None:
    if not hasattr(torch, "view_as_complex"):
        pytest.skip("the core has no complex tensors")
    z = torch.tensor([3.0 + 4.0j], requires_grad=True)
    session = Session((z * z).abs().sum(), names={"z": z})
    session.next(3)
    assert [term.numbers for term in session.detail(2).terms] == ["", ""]
