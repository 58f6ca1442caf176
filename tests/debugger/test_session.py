"""The debugger without a screen: moving, stopping, looking, and its command language."""

from __future__ import annotations

from typing import Any

import pytest

from autograd_core.autograd.call import interceptor
from gradstep import capture, trace
from gradstep.capturing import Names
from gradstep.console.session import Session
from gradstep.engines.native.trace import tracing
from gradstep.graph.addresses import find_step
from gradstep.graph.errors import UnknownAddress
from tests.both import on_the_core


@pytest.fixture
def weight(torch: Any) -> Any:
    return torch.tensor(2.0, requires_grad=True)


@pytest.fixture
def session(torch: Any, weight: Any) -> Session:
    """state = weight * state + x, three times: the weight gets three contributions."""
    with trace():
        state = torch.tensor(1.0)
        for x in (-1.0, 1.0, 2.0):
            state = weight * state + x
    return Session(state)


# -- moving ------------------------------------------------------------------------------------


def test_it_starts_before_the_first_node(session: Session) -> None:
    snapshot = session.snapshot
    assert (snapshot.position, snapshot.recorded, snapshot.status) == (0, 0, "paused")
    assert snapshot.current is not None
    assert snapshot.current.incoming[0].total.statistics.scalar == 1
    assert snapshot.current.incoming[0].contributions[0].producer is None


def test_next_and_back_count_and_stop_at_the_ends(session: Session) -> None:
    session.next(2)
    assert session.position == 2
    session.back(5)
    assert session.position == 0
    session.next(999)
    assert session.position == session.length
    assert session.snapshot.status == "finished"
    assert session.snapshot.current is None


def test_the_past_is_replayed_without_running_anything(weight: Any) -> None:
    ran: list[float] = []
    y = weight * 3
    y.register_hook(lambda g: ran.append(g.item()))
    session = Session(y * y)
    session.next(3)
    assert ran == [12]
    session.restart()
    assert session.snapshot.past
    session.next(3)
    assert ran == [12]
    assert not session.snapshot.past


def test_gradients_accumulate_contribution_by_contribution(session: Session, weight: Any) -> None:
    arrived = []
    for _ in range(session.length):
        (leaf,) = session.snapshot.leaves
        arrived.append((leaf.arrived, None if leaf.pending is None else leaf.pending.text()))
        session.next()
    assert (0, None) in arrived
    assert next(pair for pair in arrived if pair[0]) == (1, "3")
    assert arrived[-1] == (3, "9")
    (leaf,) = session.snapshot.leaves
    assert (leaf.name, leaf.before, leaf.now.text()) == ("weight", None, "9")
    assert weight.grad.item() == 9


def test_a_gradient_from_before_is_added_to(torch: Any, weight: Any) -> None:
    weight.grad = torch.tensor(100.0)
    kept = weight.grad
    session = Session(weight * 3)
    session.next(2)
    assert weight.grad is kept
    assert kept.item() == 103
    (leaf,) = session.snapshot.leaves
    assert (leaf.before.text(), leaf.now.text()) == ("100", "103")
    session.back()
    session.finish()
    assert kept.item() == 103


def test_a_sum_that_waits_at_one_of_several_outputs_is_seen(torch: Any) -> None:
    x = torch.ones(2, 2, requires_grad=True)
    first, second = x.unbind(0)
    session = Session((first * 3.0 + second).sum(), names={"x": x})
    unbind = session.breakpoints.locate("unbind")[0]
    session.jump(unbind)
    assert [each.total is not None for each in session.detail(unbind).incoming] == [True, True]
    assert [(p.index, p.input_nr) for p in session.snapshot.pending] == [(unbind, 0), (unbind, 1)]


def test_pending_sums_are_seen_while_they_wait(weight: Any) -> None:
    session = Session(weight * weight + weight)
    session.next()
    waiting = {
        session.graph.address(p.index): (p.arrived, p.expected) for p in session.snapshot.pending
    }
    assert waiting == {"mul:1": (1, 1), "weight": (1, 3)}


def test_pending_sums_are_right_whether_or_not_leaves_were_looked_at_before(weight: Any) -> None:
    session = Session((weight * weight.exp()).sum(), names={"w": weight})
    session.next(2)
    asked = session.inspector.pending()
    assert [sum.index for sum in asked] == [sum.index for sum in session.snapshot.pending] != []


def test_inside_a_node_a_delivered_gradient_waits_at_the_node_behind(weight: Any) -> None:
    session = Session(weight * weight + weight * 5)
    seen: dict[str, dict[tuple[str, int], str]] = {}
    for _ in range(3):  # the formula of add, and two deliveries, after which it is over
        session.step()
        shown = session.snapshot
        phase = shown.current.phases[-1].text if shown.phase else "the end"
        address = session.graph.address
        seen[phase] = {(address(p.index), p.arrived): p.total.text() for p in shown.pending}
    assert seen == {
        "formula": {("add:1", 1): "1"},
        "delivery along edge 0": {("add:1", 1): "1", ("mul:1", 1): "1"},
        "the end": {("mul:1", 1): "1", ("mul:2", 1): "1"},
    }


def test_finish_completes_what_is_left_and_frees_the_graph(weight: Any) -> None:
    y = weight * weight
    session = Session(y)
    session.next()
    session.finish()
    assert weight.grad.item() == 4
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_retain_graph_keeps_what_was_saved(weight: Any) -> None:
    y = weight * weight
    Session(y, retain_graph=True).finish()
    y.backward()
    assert weight.grad.item() == 8


def test_the_gradient_of_a_gradient_can_be_debugged(torch: Any, weight: Any) -> None:
    session = Session(weight**3, create_graph=True)
    session.next(99)
    session.back(1)
    session.finish()
    assert weight.grad.requires_grad
    (second,) = torch.autograd.grad(weight.grad, weight)
    assert second.item() == 12


# -- stopping ----------------------------------------------------------------------------------


@on_the_core
def test_places_are_indices_addresses_ops_leaves_and_scopes(weight: Any) -> None:
    with tracing() as tracer:
        with tracer.scope("encoder"), tracer.scope("0"):
            y = weight.tanh()
        z = y.tanh() + y
    session = Session(z)
    places = {
        place: session.breakpoints.add(place).indices
        for place in ("#1", "tanh", "TanhBackward0", "encoder.0/tanh:1", "encoder", "weight")
    }
    assert places["#1"] == (0,)
    assert places["tanh"] == places["TanhBackward0"] == (1, 2)
    assert places["encoder"] == places["encoder.0/tanh:1"] == (2,)
    assert places["weight"] == (3,)
    with pytest.raises(UnknownAddress, match="did you mean tanh"):
        session.breakpoints.add("tanhh")


def test_a_hook_that_ends_the_program_is_shown_and_ends_it_only_with_the_pass(torch: Any) -> None:
    a = torch.tensor(3.0, requires_grad=True)
    b = a * 2

    def ending(g: torch.Tensor) -> None:
        raise SystemExit(4)

    b.register_hook(ending)
    session = Session(b * b)
    session.do("continue")
    assert session.snapshot.status == "failed"
    first, line = session.do("next").text.splitlines()
    assert first == "#2 raised SystemExit: 4"
    assert line.split(None, 2)[2] == "raise SystemExit(4)"
    assert session.position == 1
    with pytest.raises(SystemExit):
        session.finish()


def test_a_node_that_raises_stops_the_session_there(weight: Any) -> None:
    y = weight.tanh()

    def fail(g: Any) -> None:
        raise ValueError("no gradients today")

    y.register_hook(fail)
    session = Session(y * 2)
    session.continue_()
    snapshot = session.snapshot
    assert (snapshot.position, snapshot.status) == (1, "failed")
    assert snapshot.error == "ValueError: no gradients today"
    session.back()
    assert session.snapshot.status == "paused"
    with pytest.raises(ValueError, match="no gradients today"):
        session.finish()


def test_a_step_into_a_node_that_raises_stops_before_it(torch: Any, weight: Any) -> None:
    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            raise ValueError("no gradients today")

    session = Session(Failing.apply(weight) * 2)
    session.next()
    session.step()
    snapshot = session.snapshot
    assert (snapshot.position, snapshot.status) == (1, "failed")
    assert snapshot.error == "ValueError: no gradients today"


# -- looking -----------------------------------------------------------------------------------


def test_a_node_shows_what_it_got_sent_kept_and_ran(weight: Any) -> None:
    with trace():
        y = weight**3
    session = Session(y)
    before = session.detail(0)
    assert (before.status, before.outgoing[0].sent, before.outgoing[0].value) == (
        "current",
        False,
        None,
    )
    session.next()
    detail = session.detail(0)
    assert detail.status == "done"
    assert detail.outgoing[0].value.text() == "12"
    assert detail.outgoing[0].target == 1
    assert [(kept.name, kept.state, kept.value.text()) for kept in detail.saved] == [
        ("self", "kept", "2")
    ]
    assert "self" in detail.formulas[0][1]
    assert detail.source_line == "y = weight**3"


def test_a_saved_value_changed_in_place_is_called_so(torch: Any, weight: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    y = (x * weight).sum()
    x.add_(1.0)
    session = Session(y)
    states = {kept.name: kept.state for kept in session.detail(1).saved}
    assert states["self"] == "changed"
    session.jump(2)
    assert session.snapshot.status == "failed"
    assert "modified by an inplace operation" in session.snapshot.error


def test_snapshots_do_not_change_afterwards(session: Session) -> None:
    early = session.snapshot
    text = repr(early)
    session.next(5)
    assert repr(early) == text


def test_saved_values_are_shown_as_they_were_when_asked_for(torch: Any, weight: Any) -> None:
    x, wide = torch.tensor([1.0, 2.0]), torch.tensor([3.0]).expand(2)
    session = Session((wide * (x * weight)).sum())
    details = [session.detail(index) for index in range(session.length)]
    saved = [each.value for detail in details for each in detail.saved if each.name == "self"]
    terms = [term.values for detail in details for term in detail.terms]
    before = [each.array.tolist() for each in saved], repr(terms)
    assert before[0] == [[3.0, 3.0], [1.0, 2.0]]
    x.mul_(5)
    wide.data[:1] = 7.0
    assert ([each.array.tolist() for each in saved], repr(terms)) == before


def test_a_number_means_the_same_node_as_in_pictures(weight: Any) -> None:
    loss = (weight * 2.0).exp().sum()
    session, graph = Session(loss), capture(loss)
    for number in range(1, session.length + 1):
        (drawn,) = find_step(graph, f"#{number}")
        (stepped,) = session.breakpoints.locate(f"#{number}")
        assert graph.address(drawn) == session.graph.address(stepped)
    assert session.do("next").text.startswith("#2 ")
    assert session.position == 1


# -- the command language -----------------------------------------------------------------------


@on_the_core
def test_a_pass_for_some_leaves_is_debugged_as_it_runs(torch: Any, weight: Any) -> None:
    other = torch.tensor(5.0, requires_grad=True)
    seen: list[Any] = []

    def intercept(call: Any) -> bool:
        session = Session.of_call(call, names=Names({"weight": weight, "other": other}))
        seen.append([session.graph.address(index) for index in range(session.length)])
        session.next(2)
        session.finish()
        return True

    token = interceptor.set(intercept)
    try:
        (weight.tanh() * other.tanh() * 2).backward(inputs=[other])
    finally:
        interceptor.reset(token)
    assert seen == [["mul:2", "mul:1", "tanh:2", "other"]]
    assert weight.grad is None
    assert other.grad is not None


def test_looking_commands_speak_of_the_node_that_was_selected_until_something_moves(
    torch: Any,
) -> None:
    a = torch.tensor(2.0, requires_grad=True)
    session = Session((a * a).tanh(), names={"a": a})
    assert session.selected == 0
    session.select(1)
    assert session.do("info node").text.startswith("#2 mul:1")
    session.do("next 1")
    assert session.selected == 1
    session.select(0)
    session.do("continue")
    assert session.selected is None


def test_an_edit_knows_which_node_it_is_about(torch: Any) -> None:
    a = torch.tensor(2.0, requires_grad=True)
    session = Session((a * a).tanh(), names={"a": a})
    session.do("mute #2")
    (edit,) = session.snapshot.edits
    assert (edit.position, edit.index) == (0, 1)
    assert session.do("undo").text.startswith("undone: mute edge 0 of #2")


def test_taking_a_change_back_does_not_keep_the_reason_of_another_place(torch: Any) -> None:
    a = torch.tensor(2.0, requires_grad=True)
    session = Session((a * a).tanh(), names={"a": a})
    for line in ("next", "scale 0.5", "continue"):
        session.do(line)
    assert session.snapshot.reason == "end of the backward pass"
    session.do("undo")
    assert (session.position, session.snapshot.reason) == (1, "")
