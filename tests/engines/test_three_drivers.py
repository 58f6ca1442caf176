"""One suite of sessions over three drivers.

They are the core's, PyTorch's engine while it runs, and the same engine after it has begun again
from sums that wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograd_core
from gradstep.debugger.errors import EditError
from gradstep.debugger.session import Session

pytorch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.torch

Opened = Callable[[Callable[[Any], tuple[Any, dict[str, Any]]]], Session]


def _native(program: Callable[[Any], tuple[Any, dict[str, Any]]]) -> Session:
    loss, names = program(autograd_core)
    return Session(loss, names=names)


def _live(program: Callable[[Any], tuple[Any, dict[str, Any]]]) -> Session:
    loss, names = program(pytorch)
    return Session(loss, names=names)


def _replay(program: Callable[[Any], tuple[Any, dict[str, Any]]]) -> Session:
    session = _live(program)
    session.next(2)
    session.restart()
    session.edit.scale(0, 2.0)
    session.next()
    session.edit.undo()
    session.restart()
    return session


@pytest.fixture(params=[_native, _live, _replay], ids=["native", "live", "replay"])
def opened(request: pytest.FixtureRequest) -> Any:
    return request.param


def shared_leaf(torch: Any) -> tuple[Any, dict[str, Any]]:
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    return (a * b).sin() + a * a, {"a": a, "b": b}


def two_layers(torch: Any) -> tuple[Any, dict[str, Any]]:
    torch.manual_seed(0)
    weight = (torch.arange(6.0).reshape(3, 2) / 10).requires_grad_()
    bias = torch.zeros(2, requires_grad=True)
    bias.grad = torch.ones(2)
    x = torch.ones(4, 3)
    return ((x @ weight + bias).relu() ** 2).mean(), {"weight": weight, "bias": bias}


def hooked(torch: Any) -> tuple[Any, dict[str, Any]]:
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.register_hook(lambda g: g * 3)
    return y.sum(), {"x": x, "y": y}


def log_of_zero(torch: Any) -> tuple[Any, dict[str, Any]]:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    return (x.sqrt() * 0.0).sum(), {"x": x}


def leaves(session: Session) -> dict[str, Any]:
    return {
        each.name: None if each.now is None else each.now.array.tolist()
        for each in session.snapshot.leaves
    }


def test_the_position_and_the_leaves_follow_every_move(opened: Opened) -> None:
    session = opened(shared_leaf)
    assert leaves(session) == {"a": None, "b": None}
    session.continue_()
    assert session.snapshot.status == "finished"
    done = leaves(session)
    assert done["a"] == pytest.approx(6.8805, abs=1e-4)
    session.back(2)
    assert session.position == session.length - 2
    session.restart()
    assert leaves(session) == {"a": None, "b": None}
    session.continue_()
    assert leaves(session) == done
    session.finish()


def test_a_sum_of_several_contributions_is_told_one_by_one(opened: Opened) -> None:
    session = opened(shared_leaf)
    session.continue_()
    (index,) = (each.index for each in session.snapshot.leaves if each.name == "a")
    (incoming,) = session.detail(index).incoming
    assert incoming.expected == len(incoming.contributions) == 3
    entries = list(session.contributions(index))
    assert [entry.number for entry in entries] == [0, 1, 2]
    last = entries[-1].total
    assert last is not None
    assert last.array.tolist() == pytest.approx(6.8805, abs=1e-4)
    session.finish()


def test_a_breakpoint_with_a_condition_stops_where_it_holds(opened: Opened) -> None:
    session = opened(two_layers)
    assert not session.do("break relu if rms > 0").error
    reply = session.do("continue")
    assert "breakpoint 1: relu" in reply.text
    assert session.graph.stem(session.position) == "relu"
    session.do("delete 1")
    session.continue_()
    session.finish()


def test_a_catch_stops_behind_the_node_that_made_it(opened: Opened) -> None:
    session = opened(log_of_zero)
    session.do("catch nan")
    reply = session.do("continue")
    assert "nan 1/2" in reply.text
    assert session.graph.stem(session.position - 1) == "sqrt"
    session.abort()


def test_a_grad_from_before_is_added_to(opened: Opened) -> None:
    session = opened(two_layers)
    session.continue_()
    (bias,) = (each for each in session.snapshot.leaves if each.name == "bias")
    assert bias.before is not None
    assert bias.before.array.tolist() == [1.0, 1.0]
    assert bias.now is not None
    assert (bias.now.array > 1).all()
    session.abort()


def test_what_a_hook_made_is_a_phase_of_its_node(opened: Opened) -> None:
    session = opened(hooked)
    session.continue_()
    (index,) = session.breakpoints.locate("exp")
    hook, *_ = session.phases(index)
    assert hook.kind == "hook"
    assert [value.array.tolist() for value in (*hook.before, *hook.after) if value is not None] == [
        [1.0, 1.0], [3.0, 3.0]
    ]  # fmt: skip
    session.finish()


def test_stepping_inside_a_node_delivers_one_edge_after_the_other(opened: Opened) -> None:
    session = opened(shared_leaf)
    (first, _) = session.breakpoints.locate("mul")
    session.jump(first)
    seen = []
    while session.position == first:
        session.step()
        seen.append(session.reason.partition(" along")[0])
    assert seen[0].endswith("formula")
    assert seen[1].startswith("delivery")
    session.step_back()
    assert session.position == first
    session.continue_()
    session.finish()


def test_an_edited_sum_changes_what_follows_and_can_be_undone(opened: Opened) -> None:
    session = opened(shared_leaf)
    session.continue_()
    plain = leaves(session)
    session.restart()
    session.edit.scale(0, 10.0)
    session.continue_()
    assert leaves(session)["b"] == pytest.approx(10 * plain["b"], rel=1e-6)
    assert {each.name: each.relative for each in session.edit.difference()} == pytest.approx(
        {"a": 9.0, "b": 9.0}
    )
    session.edit.undo()
    session.continue_()
    assert leaves(session) == plain
    session.finish()


def test_a_value_of_another_shape_is_refused(opened: Opened) -> None:
    session = opened(two_layers)
    with pytest.raises(EditError, match="does not fit a gradient of shape"):
        session.edit.set(0, [1.0, 2.0, 3.0])
    session.finish()


def test_a_pass_is_certified(opened: Opened) -> None:
    session = opened(two_layers)
    session.continue_()
    found = session.certificate()
    assert found.repeated >= 4
    assert found.different == ()
    session.finish()
