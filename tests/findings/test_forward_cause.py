"""A NaN or an infinity is reported where it began: in the forward pass, or in the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_core
from gradstep import trace
from gradstep.console.session import Session
from gradstep.findings.linting import lint
from gradstep.findings.rules.graph.finite import Beginning, forward_cause
from gradstep.findings.rules.graph.subject import Subject
from tests.both import on_the_core

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
NAN, INF = float("nan"), float("inf")


Leaf = Callable[..., Any]


@pytest.fixture
def leaf(torch: Any) -> Leaf:
    return lambda *values: torch.tensor(values, requires_grad=True)


def stop(loss: Any, condition: str = "nan, inf", **names: Any) -> dict[str, str]:
    """What is said where the condition first comes true, by its labels."""
    session = Session(loss, names=names)
    title = session.do(f"catch {condition}").text
    first, *lines = session.do("continue").text.splitlines()
    rows: list[list[str]] = []
    for line in lines:
        if line.startswith("     "):  # the rest of a long one
            rows[-1][1] += f" {line.strip()}"
        elif line.startswith("  "):
            rows.append(line.split(None, 1))
    # of two of a label, the first
    return dict([("what", first.removeprefix(f"{title}, ")), *reversed(rows)])


def cause(loss: Any, index: int) -> Beginning | None:
    session = Session(loss, names={})
    return forward_cause(
        Subject(tuple(session.roots), session.order, session.graph, session.names), index
    )


# --- in the forward pass --------------------------------------------------------------------------


def test_a_nan_of_the_forward_pass_is_reported_where_it_began(leaf: Leaf) -> None:
    with trace(values=True):
        w = leaf(1.0, -2.0, 3.0)
        loss = (w.log().tanh().exp() * 2).sum()
    said = stop(loss, w=w)
    assert said["what"] == "nan began in the forward pass, at #5 log:1"
    alone = stop(loss, "nan", w=w)  # the condition is not said twice
    assert alone["what"] == "catch 1: nan began in the forward pass, at #5 log:1"
    assert said["there"] == "nan at 1 of 3 places, first at [1], where its input is −2"
    assert said["line"].endswith("loss = (w.log().tanh().exp() * 2).sum()")
    assert said["seen"] == "first in the backward pass: out of #3 exp:1 is nan 1/3, first at [1]"
    assert said["saved.result"] == "rms 1.73, 1 to 2.23, 1 of 3 are nan; there nan"
    assert "why" not in said


def test_a_row_that_is_masked_as_a_whole_began_at_the_softmax_which_is_given_infinities(
    torch: Any,
) -> None:
    with trace(values=True):
        w = torch.ones(3, 4, requires_grad=True)
        mask = torch.tensor([[False] * 4, [True] * 4, [False] * 4])
        scores = w.masked_fill(mask, -INF)
        loss = torch.softmax(scores, 1).log_softmax(1).sum()
    said = stop(loss, w=w)
    assert said["what"] == "nan began in the forward pass, at #3 softmax:1"
    assert said["there"] == (
        "nan at 4 of 12 places, first at [1, 0], in row [1, :], where all 4 inputs are "
        "\N{MINUS SIGN}inf"
    )
    assert said["given"].startswith("the result of masked_fill:1 with inf at 4 of 12 places")
    assert said["seen"] == (
        "first in the backward pass: out of #2 log_softmax:1 is nan 4/12, first at [1, 0]"
    )


def test_a_nan_of_an_infinity_began_where_an_op_made_that_of_finite_values(leaf: Leaf) -> None:
    with trace(values=True):
        w = leaf(1.0, 1000.0)
        far = w.exp() * 3
        loss = (far - far * 2).sum()
    said = stop(loss, w=w)
    assert said["what"] == "inf began in the forward pass, at #5 exp:1"
    assert said["there"] == (
        "inf at 1 of 2 places, first at [1], where its input is 1000 "
        "(the largest float32 is 3.4e38)"
    )
    (found,) = [found for found in lint(loss, names={"w": w}) if found.code == "not-finite"]
    assert found.what == (
        "exp:1 produces inf at 1 of 2 places, first at [1], where its input is 1000 "
        "(the largest float32 is 3.4e38); the inf became nan at sub:1"
    )


def test_what_was_told_to_be_infinite_is_only_where_the_infinity_comes_from(
    torch: Any, leaf: Leaf
) -> None:
    with trace(values=True):
        w = leaf(1.0, 2.0)
        scores = w.masked_fill(torch.tensor([True, True]), -INF) + 1
        loss = torch.softmax(scores, 0).exp().sum()
    (found,) = [found for found in lint(loss, names={"w": w}) if found.code == "not-finite"]
    assert found.what == (
        "softmax:1 produces nan at 2 of 2 places, first at [0], where all 2 inputs are "
        "\N{MINUS SIGN}inf; its input is the result of add:1 with inf at 2 of 2 places, which "
        "began at masked_fill:1"
    )
    assert found.other is not None


def test_an_infinity_that_was_saved_is_a_cause_though_the_loss_is_finite(leaf: Leaf) -> None:
    with trace(values=True):
        w = leaf(1.0, 1000.0)
        loss = (1 / w.exp()).sum()
    said = stop(loss, w=w)
    assert said["what"] == "inf began in the forward pass, at #4 exp:1"
    assert said["there"] == (
        "inf at 1 of 2 places, first at [1], where its input is 1000 "
        "(the largest float32 is 3.4e38)"
    )
    assert said["saved.result"] == "rms 2.72, 2.72 to 2.72, 1 of 2 are infinite; there inf"


def test_a_loss_that_is_infinite_began_at_the_op_that_made_it_so(leaf: Leaf) -> None:
    with trace(values=True):
        w = leaf(1.0, 0.0)
        loss = w.log().sum()
    said = stop(loss, w=w)
    assert said["what"] == "inf began in the forward pass, at #2 log:1"
    assert said["there"] == "inf at 1 of 2 places, first at [1], where its input is 0"
    assert said["seen"] == "first in the backward pass: out of #2 log:1 is inf 1/2, first at [1]"


def test_the_op_is_found_behind_any_result_of_one_with_several(leaf: Leaf) -> None:
    with trace(values=True):
        w = leaf(1.0, 4.0, -1.0, 4.0)
        finite, spoilt = w.sqrt().split(2)
        loss = (finite * spoilt.exp()).sum()
    assert stop(loss, w=w)["what"] == "nan began in the forward pass, at #5 sqrt:1"


def test_a_change_through_a_view_is_named(torch: Any, leaf: Leaf) -> None:
    with trace(values=True):
        w = leaf(1.0, 4.0)
        y = w * 2
        y[0] = torch.tensor(NAN)
        loss = y.exp().sum()
    said = stop(loss, w=w)
    assert said["what"] == "nan began in the forward pass, at #3 CopySlices:1"
    assert "y[0] = torch.tensor(NAN)" in said["line"]


def test_what_was_nan_before_the_forward_pass_is_told_from_what_an_op_made(
    torch: Any, leaf: Leaf
) -> None:
    with trace(values=True):
        w, x = leaf(1.0, 2.0), torch.tensor([NAN, 1.0])
        loss = (w * x).sum()
    said = stop(loss, w=w, x=x)
    assert said["what"] == "nan began in the forward pass, at #2 mul:1"
    assert said["given"] == "x with nan at 1 of 2 places, first at [0]"
    with trace(values=True):
        w = leaf(1.0, INF)
        loss = w.clamp(max=2.0).mul(0.0).sum()
    beginning = cause(loss, 2)
    assert (
        beginning is None or beginning.headline == "a tensor contained inf before the forward pass"
    )


def test_a_nan_that_was_masked_away_is_not_blamed_for_another_one(torch: Any, leaf: Leaf) -> None:
    with trace(values=True):
        w = leaf(-1.0, 4.0)
        good = torch.where(w > 0, torch.sqrt(w), torch.zeros(2))  # nan, and gone again
        loss = (good - 5).log().exp().sum()
    said = stop(loss, w=w)
    assert said["what"] == "nan began in the forward pass, at #3 log:1"
    found = [found for found in lint(loss, names={"w": w}) if found.code == "not-finite"]
    assert found[0].address == "log:1"


def test_what_a_function_of_the_user_makes_inside_is_told(torch: Any, leaf: Leaf) -> None:
    class Inside(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(torch.tensor([NAN, 1.0]))
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    with trace(values=True):
        w = leaf(1.0, 2.0)
        loss = Inside.apply(w).sum()
    said = stop(loss, w=w)
    assert said["what"].startswith("nan began in the forward pass, inside #2 inside:1")
    assert "nan at 1 of 2 places, first at [0]" in said["there"]


def test_the_forward_pass_that_a_checkpoint_runs_again_is_looked_into(
    torch: Any, leaf: Leaf
) -> None:
    def part(x: Any) -> Any:
        return x.log().exp()

    with trace(values=True):
        w = leaf(1.0, -2.0)
        loss = torch.utils.checkpoint.checkpoint(part, w, use_reentrant=False).sum()
    said = stop(loss, w=w)
    assert "log:1" in said["what"]


# --- in the backward pass -------------------------------------------------------------------------


def test_a_gradient_that_no_forward_value_explains_began_in_the_backward_pass(leaf: Leaf) -> None:
    with trace(values=True):
        w = leaf(4.0, 0.0)
        loss = (w.sqrt() * 2).sum()
    said = stop(loss, w=w)
    assert said["what"] == "out of #3 sqrt:1 is inf 1/2, first at [1]"
    assert said["why"] == (
        "the incoming gradient is finite: it began in the backward pass, at this node"
    )
    assert said["in"] == "2 everywhere; there 2"
    assert said["saved.result"] == "rms 1.41, 0 to 2, 1 of 2 are 0; there 0"


def test_a_nan_made_of_an_infinity_that_arrived_is_no_business_of_the_forward_pass(
    leaf: Leaf,
) -> None:
    with trace(values=True):
        w = leaf(4.0, 0.0)
        loss = (w**2).sqrt().sum()
    said = stop(loss, "nan", w=w)
    assert said["why"] == (
        "the incoming gradient has no nan: it began in the backward pass, at this node"
    )


# --- what is not known ----------------------------------------------------------------------------


@on_the_core
def test_without_traced_values_it_is_said_that_the_op_may_be_an_earlier_one(leaf: Leaf) -> None:
    for traced in (False, True):
        w = leaf(1.0, -2.0)
        if traced:
            with trace():
                y = w.log() * 2
                loss = y.exp().sum()
        else:
            y = w.log() * 2
            loss = y.exp().sum()
        said = stop(loss, w=w)
        assert said["what"] == "nan began in the forward pass, at #2 exp:1 or earlier"
        assert said["there"] == "result with nan at 1 of 2 places, first at [1]"
        assert said["note"].startswith("trace(values=True) around the forward pass finds")


@on_the_core
def test_without_traced_values_saved_ones_lead_back_as_far_as_they_go(leaf: Leaf) -> None:
    w = leaf(1.0, -2.0)
    said = stop((w.log().tanh() * 2).exp().sum(), w=w)
    assert said["what"] == "nan began in the forward pass, at #4 tanh:1 or earlier"
    assert said["there"] == "result with nan at 1 of 2 places, first at [1]"
    w = leaf(1.0, NAN)
    said = stop((w * 2).exp().sum(), w=w)
    assert said["what"] == "w contained nan before the forward pass"
    assert said["there"] == "nan at 1 of 2 places"


@on_the_core
def test_without_traced_values_no_op_is_blamed_whose_nan_may_have_been_left_out(
    torch: Any, leaf: Leaf
) -> None:
    w, v = leaf(1.0, -2.0), leaf(1.0, -2.0)
    kept = torch.where(torch.tensor([True, False]), w.log().tanh(), w)
    said = stop((kept + v.log()).exp().sum(), w=w, v=v)
    assert said["what"] == "nan began in the forward pass, at #2 exp:1 or earlier"


# --- any program ----------------------------------------------------------------------------------

UNARY: dict[str, Any] = {
    "log": lambda x: x.log(),
    "sqrt": lambda x: x.sqrt(),
    "exp": lambda x: x.exp(),
    "reciprocal": lambda x: x.reciprocal(),
    "neg": lambda x: -x,
    "relu": lambda x: x.relu(),
    "tanh": lambda x: x.tanh(),
    "clamp": lambda x: x.clamp(-2.0, 2.0),
    "softmax": lambda x: x.softmax(0),
    "masked_fill": lambda x: x.masked_fill(autograd_core.tensor([True, False, False]), -INF),
}
BINARY: dict[str, Any] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "where": lambda x, y: autograd_core.where(x > 0, x, y),
}
steps = st.tuples(st.sampled_from([*UNARY, *BINARY]), st.integers(0, 9), st.integers(0, 9))
numbers = st.sampled_from([0.0, 1.0, -1.0, 0.5, 100.0, -3.0, 1e30])


@settings(max_examples=200, deadline=None)
@given(st.lists(numbers, min_size=3, max_size=3), st.lists(steps, min_size=1, max_size=9))
def test_what_is_reported_is_true_of_any_program(
    start: list[float], program: list[tuple[str, int, int]]
) -> None:
    made: list[tuple[Any, list[Any]]] = []  # each result, with what it was computed from
    with trace(values=True):
        w = autograd_core.tensor(start, requires_grad=True)
        values = [w]
        for name, first, second in program:
            inputs = [values[first % len(values)]]
            if name in BINARY:
                inputs.append(values[second % len(values)])
            values.append((UNARY | BINARY)[name](*inputs))
            made.append((values[-1], inputs))
        loss = values[-1].sum()
    session = Session(loss, names={"w": w})
    session.do("catch nan, inf")
    said = session.do("continue").text
    reached = session.breakpoints.last
    if reached is None or not reached.trigger.computed:
        return
    index = reached.trigger.subject.index
    subject = Subject(tuple(session.roots), session.order, session.graph, session.names)
    began = forward_cause(subject, index)
    if began is None:
        assert "began in the backward pass" in said
        kept = [each.value.array for each in session.detail(index).saved if each.value is not None]
        assert all(np.isfinite(array).all() for array in kept)
        return
    assert began.headline in said
    if began.index is None:
        return
    bad = np.isnan if began.trouble == "nan" else np.isinf
    record = session.order[began.index].record
    for result, inputs in made:
        if result.record[0] is record:
            wrong = bad(result.array)
            place = [int(each) for each in np.argwhere(wrong)[0]]
            assert f"at {wrong.sum()} of 3 places, first at {place}" in str(began.amount)
            assert not any(bad(each.array).any() for each in inputs if each is not w)
            assert bool(began.given) == (not all(np.isfinite(each.array).all() for each in inputs))
