"""Several backward calls of one program, and ways to look at a large tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep import trace
from gradstep.capturing import Names
from gradstep.console.session import Session
from gradstep.debugger.breakpoints import Breakpoints
from gradstep.debugger.snapshot import Value
from gradstep.debugger.snapshot.timeline import Timeline
from tests.both import on_the_core


@pytest.fixture
def weight(torch: Any) -> Any:
    return torch.tensor([1.0, -2.0], requires_grad=True)


def train(
    weight: Any, calls: int, *, forget: bool, record_all: bool
) -> tuple[Timeline, Breakpoints]:
    timeline, breakpoints = Timeline(), Breakpoints()
    names = Names({"weight": weight})
    for call in range(1, calls + 1):
        if not forget:
            weight.grad = None
        with trace():
            loss = (weight * float(call)).sum()
            session = Session(
                loss, names=names, call=call, timeline=timeline, breakpoints=breakpoints
            )
        if record_all:
            session.jump(session.length)
        session.finish()
    return timeline, breakpoints


@pytest.mark.parametrize("record_all", [True, False])
def test_the_timeline_knows_what_each_call_added(weight: Any, record_all: bool) -> None:
    timeline, _ = train(weight, 3, forget=False, record_all=record_all)
    assert timeline.magnitudes("weight") == [1.0, 2.0, 3.0]
    assert [call.number for call in timeline.calls] == [1, 2, 3]
    assert {call.source.line for call in timeline.calls if call.source} != set()
    assert [leaf.kept for _, leaf in timeline.of_leaf("weight")] == [False, False, False]


@pytest.mark.parametrize("record_all", [True, False])
def test_a_forgotten_zero_grad_shows_as_kept(weight: Any, record_all: bool) -> None:
    timeline, _ = train(weight, 3, forget=True, record_all=record_all)
    account = [leaf for _, leaf in timeline.of_leaf("weight")]
    assert [leaf.kept for leaf in account] == [False, True, True]
    assert [leaf.after.rms for leaf in account if leaf.after] == [1.0, 3.0, 6.0]
    assert timeline.magnitudes("weight") == [1.0, 2.0, 3.0]


def test_a_snapshot_knows_the_calls_before(weight: Any) -> None:
    timeline, _ = train(weight, 2, forget=False, record_all=True)
    session = Session((weight * 2.0).sum(), timeline=timeline, call=3)
    assert [call.number for call in session.snapshot.calls] == [1, 2]


def test_the_second_derivative_is_a_pass_that_can_be_walked(weight: Any) -> None:
    Session((weight**3).sum(), create_graph=True).finish()
    second = Session(weight.grad.sum())
    second.jump(second.length)
    second.restart()
    weight.grad = None
    second.finish()
    assert second.length > 3


def test_a_graph_that_was_freed_says_which_call_freed_it(weight: Any) -> None:
    with trace():
        loss = (weight * weight).sum()
        loss.backward()
    session = Session(loss)
    assert "retain_graph=True" in session.snapshot.hint
    assert "test_timeline.py" in session.snapshot.hint
    session.continue_()
    assert session.snapshot.status == "failed"
    session.restart()
    assert session.snapshot.status == "paused"


@on_the_core
def test_memory_that_runs_out_stops_the_pass_and_loses_nothing(torch: Any, weight: Any) -> None:
    class Greedy(torch.autograd.Function):
        asked = 0

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            Greedy.asked += 1
            if Greedy.asked == 1:
                raise MemoryError("too much")
            return g * 2.0

    session = Session(Greedy.apply(weight.tanh().tanh()).sum().tanh())
    session.continue_()
    assert session.snapshot.error == "MemoryError: too much"
    session.continue_()
    assert session.snapshot.status == "finished"
    assert session.detail(0).outgoing[0].value is not None


# -- large tensors -----------------------------------------------------------------------------


def test_a_histogram_counts_what_is_finite() -> None:
    found = Value(np.array([0.0, 1.0, 2.0, np.inf, np.nan, 2.0])).histogram(2)
    assert (found.edges, found.counts) == ((0.0, 1.0, 2.0), (1, 3))
    assert (found.nans, found.infs) == (1, 1)
    assert sum(Value(np.full(5, 3.0)).histogram(4).counts) == 5


def test_a_heat_map_averages_and_marks_what_is_not_finite() -> None:
    array = np.arange(24.0).reshape(2, 3, 4)
    array[0, 0, 0] = np.nan
    found = Value(array).heat_map(2, 2)
    assert found.means.shape == (2, 2)
    assert found.trouble.tolist() == [[True, False], [False, False]]
    assert found.means[1, 1] == array[1, :, 2:].mean()
    assert Value(np.zeros(())).heat_map(3, 3).means.tolist() == [[0.0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", [0, 1, 2]), (":, 1", [1, 4]), ("[..., ::2]", [[0, 2], [3, 5]]), ("-1, 0:2", [3, 4])],
)
def test_a_slice_reads_as_between_brackets(text: str, expected: list[Any]) -> None:
    assert Value(np.arange(6).reshape(2, 3)).slice(text).array.tolist() == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [("5", r"no part \[5\]"), ("a", "'a' is not part"), ("::0", "not a slice"), ("0,0,0", "shape")],
)
def test_a_slice_that_is_none_says_why(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Value(np.arange(6).reshape(2, 3)).slice(text)


def test_the_timeline_in_words_speaks_of_leaves_only_where_a_grad_was_kept(torch: Any) -> None:
    w, timeline = torch.tensor(2.0, requires_grad=True), Timeline()
    for call in (1, 2):
        session = Session(w * w, names={"w": w}, call=call, timeline=timeline)
        session.finish()
    first, second = map(str.strip, session.do("info calls").text.splitlines())
    assert "2 nodes" in first
    assert "kept a .grad" not in first
    assert "1 of 1 leaf kept a .grad from before" in second
