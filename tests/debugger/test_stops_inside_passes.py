"""Stops in a pass that runs inside a node of another one."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

import pytest

from gradstep import trace
from gradstep.console.session import Session
from tests.both import on_the_core


@pytest.fixture
def session(torch: Any, once: Any) -> Session:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    found = Session(once.apply(x.exp()).sum(), names={"x": x})
    assert found.snapshot.graph.address(1) == "once:1"
    return found


def place(session: Session) -> tuple[int, str]:
    """How many passes are open, and where the one in view stands."""
    at_end = session.position == session.length
    return len(session.frames), "end" if at_end else session.graph.address(session.position)


def test_a_breakpoint_inside_is_hit_once_the_node_has_run_and_said_to_be(session: Session) -> None:
    session.breakpoints.add("tanh", pending=True)
    reply = session.reply("continue")
    assert place(session) == (2, "tanh:1")
    assert session.frames[0].position == 2
    assert session.snapshot.reason == "breakpoint 1: tanh"
    assert "inside #2 once:1, which has run; leave goes out" in reply.text
    assert session.breakpoints.points[0].hits == 1


def test_the_node_behind_one_with_a_pass_inside_has_none(session: Session) -> None:
    session.next(2)
    assert [session.nested(index) for index in range(session.length)] == [0, 1, 0, 0]
    reply = session.reply("enter")
    assert reply.error
    assert "node #3 has not started a backward pass so far" in reply.text


def test_continuing_at_the_end_of_the_inner_pass_goes_on_around_it(session: Session) -> None:
    session.breakpoints.add("tanh", pending=True)
    session.breakpoints.add("#4")
    places = []
    for _ in range(4):
        session.continue_()
        places.append(place(session))
    # the inner pass, too, has a node #4
    assert places == [(2, "tanh:1"), (2, "end"), (1, "x"), (1, "end")]


def test_going_back_finds_the_stops_inside_too(session: Session) -> None:
    session.breakpoints.add("tanh", pending=True)
    session.jump(4)
    places = []
    for _ in range(3):
        session.reverse_continue()
        places.append(place(session))
    assert places == [(2, "tanh:1"), (2, "sum:1"), (1, "sum:1")]


def test_a_stop_right_behind_the_node_is_not_lost_to_one_inside_it(session: Session) -> None:
    session.breakpoints.add("tanh", pending=True)
    session.breakpoints.add("exp")
    places = []
    for _ in range(4):
        session.continue_()
        places.append(place(session))
    assert places == [(2, "tanh:1"), (2, "end"), (1, "exp:1"), (1, "end")]


def test_a_catch_names_the_node_inside(session: Session) -> None:
    session.breakpoints.add(kind="catch", condition="op == 'tanh'")
    session.reply("continue")
    assert len(session.frames) == 2
    assert "tanh:1" in session.snapshot.reason


def test_a_log_point_inside_speaks_without_stopping(session: Session) -> None:
    session.breakpoints.add("tanh", pending=True, kind="log", message="here {in.rms}")
    reply = session.reply("continue")
    assert "here" in reply.text
    assert place(session) == (1, "end")


def test_a_pass_two_deep_is_entered_to_the_stop(torch: Any, once: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def again(g: Any) -> None:
        with torch.enable_grad():
            once.apply(torch.ones(2, requires_grad=True)).sum().backward()

    y = x * 3
    y.register_hook(again)
    session = Session(y.sum())
    session.breakpoints.add("tanh", pending=True)
    session.continue_()
    assert place(session) == (3, "tanh:1")
    assert [frame.position for frame in session.frames[:2]] == [2, 2]


@on_the_core
def test_the_pass_inside_a_reentrant_checkpoint_is_undone_and_redone(torch: Any) -> None:
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    x = torch.tensor([3.0, 4.0], requires_grad=True)
    session = Session(
        torch.utils.checkpoint.checkpoint(lambda v: v * weight, x, use_reentrant=True).sum()
    )
    session.next(2)
    assert weight.grad.tolist() == [3.0, 4.0]
    assert session.nested(1) == 1
    session.restart()
    assert weight.grad is None
    session.edit.scale(0, 2.0)
    session.next(2)
    assert weight.grad.tolist() == [6.0, 8.0]
    session.edit.undo()
    session.finish()
    assert weight.grad.tolist() == [3.0, 4.0]


@on_the_core
def test_a_pass_inside_is_called_as_its_function_calls_it_and_knows_its_lines(
    torch: Any,
) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def hook(g: Any) -> None:
        with torch.enable_grad():
            inner = (x * x).sin().sum()
        inner.backward()

    with trace():
        y = x.exp()
        y.register_hook(hook)
        session = Session(y.sum(), names={"x": x})
        session.reply("break --pending sin")
        session.reply("continue")
    assert session.frames[-1].title == "inner.backward()"
    session.reply("leave")
    shown = session.reply("info node #2").text
    assert re.search(r"inside +inner\.backward\(\) ran: enter #2", shown)
    assert session.detail(2).nested == ()
    session.reply("enter #2")
    sources = session.graph.sources
    assert {PurePath(source.file).name for source in sources.values()} == {PurePath(__file__).name}
    assert [session.graph.address(index) for index in range(session.length)] == [
        "sum:1", "sin:1", "mul:1", "x",
    ]  # fmt: skip
    session.reply("leave")
    session.finish()


def test_the_passes_of_a_hook_are_traced_only_where_the_program_is(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def hook(g: Any) -> None:
        with torch.enable_grad():
            (x * x).sum().backward()

    y = x.exp()
    y.register_hook(hook)
    session = Session(y.sum(), names={"x": x})
    session.reply("next 2")
    assert session.enter(1)
    assert not session.graph.sources


def test_a_stop_two_passes_deep_names_both_nodes_and_is_made_once(torch: Any, once: Any) -> None:
    class Twice(torch.autograd.Function):
        """Doubles, by a pass inside the backward that has another one inside."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                inner = x.detach().requires_grad_(True)
                once.apply(inner.sin() + 1).sum().backward()
            return g * 2

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    session = Session(Twice.apply(x.exp()).sum(), names={"x": x})
    for op in ("tanh", "add", "exp"):
        session.breakpoints.add(op, pending=True)
    reply = session.reply("continue")
    assert place(session) == (3, "tanh:1")
    assert "inside #2 once:1, which has run; leave goes out" in reply.text
    assert "inside #2 twice:1, which has run; leave goes out" in reply.text
    places = []
    for _ in range(4):
        session.continue_()
        places.append(place(session))
    assert places == [(3, "end"), (2, "add:1"), (2, "end"), (1, "exp:1")]
    session.finish()
