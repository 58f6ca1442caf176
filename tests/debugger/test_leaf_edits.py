"""Changes of a leaf's ``.grad`` after it has run, and what the account of a sum says of changes."""

from __future__ import annotations

from typing import Any

import pytest

from gradstep.capturing import Names
from gradstep.console.session import Session
from gradstep.debugger.errors import EditError
from gradstep.graph.addresses import step_number
from tests.both import on_the_core


@pytest.fixture
def leaves(torch: Any) -> tuple[Any, Any]:
    return (
        torch.tensor([1.0, -2.0], requires_grad=True),
        torch.tensor([3.0, 4.0], requires_grad=True),
    )


@pytest.fixture
def session(leaves: tuple[Any, Any]) -> Session:
    """A plan of sum, mul, w, mul, x, y: the leaf w has run before the others."""
    w, x = leaves
    return Session(((x * 2.0) * w).sum(), names=Names({"w": w, "x": x}))


def step_index(session: Session, name: str) -> int:
    return session.breakpoints.locate(name)[0]


def told(session: Session, name: str) -> str | None:
    now = next(leaf.now for leaf in session.snapshot.leaves if leaf.name == name)
    return None if now is None else now.text()


@on_the_core
def test_a_changed_grad_holds_from_its_position_on_and_not_before(
    session: Session, leaves: tuple[Any, Any]
) -> None:
    w, _ = leaves
    at = step_index(session, "w")
    session.jump(at + 1)
    assert told(session, "w") == "[6, 8]"
    edited = session.edit.set(at, 5.0, grad=True)
    assert edited.record.text == "set w.grad"
    assert (w.grad.tolist(), told(session, "w")) == ([5.0, 5.0], "[5, 5]")
    session.next(2)
    assert told(session, "w") == "[5, 5]"
    session.jump(at + 1)
    assert told(session, "w") == "[5, 5]"
    session.jump(at)
    assert (w.grad, told(session, "w")) == (None, None)
    session.jump(session.length)
    assert (w.grad.tolist(), told(session, "w")) == ([5.0, 5.0], "[5, 5]")


def test_changes_of_grad_add_up_and_are_undone_one_by_one(
    session: Session, leaves: tuple[Any, Any]
) -> None:
    w, x = leaves
    at = step_index(session, "w")
    session.jump(at + 1)
    session.edit.scale(at, 2.0, grad=True)
    session.next()
    session.edit.clip(at, 13.0, grad=True)
    assert w.grad.tolist() == [12.0, 13.0]
    (difference,) = [each for each in session.edit.difference() if each.name == "w"]
    assert difference.maximum == 6.0
    session.edit.undo()
    assert w.grad.tolist() == [12.0, 16.0]
    session.edit.undo()
    assert w.grad.tolist() == [6.0, 8.0]
    session.finish()
    assert (w.grad.tolist(), x.grad.tolist()) == ([6.0, 8.0], [2.0, -4.0])


def test_a_change_at_the_very_end_is_what_the_program_finds(
    session: Session, leaves: tuple[Any, Any]
) -> None:
    w, _ = leaves
    session.jump(session.length)
    session.edit.zero(step_index(session, "w"), grad=True)
    session.restart()
    session.edit.scale(0, 2.0)  # forgets what was recorded, not the change at the end
    session.finish()
    assert w.grad.tolist() == [0.0, 0.0]


def test_aborting_takes_changes_of_grad_back(
    torch: Any, session: Session, leaves: tuple[Any, Any]
) -> None:
    w, _ = leaves
    w.grad = torch.tensor([7.0, 7.0])
    given = w.grad
    fresh = Session((w * 2.0).sum(), names=Names({"w": w}))
    fresh.jump(fresh.length)
    fresh.edit.set(step_index(fresh, "w"), 0.0, grad=True)
    fresh.abort()
    assert w.grad is given
    assert w.grad.tolist() == [7.0, 7.0]


def test_what_has_no_grad_to_change_is_told(session: Session) -> None:
    at = step_index(session, "w")
    with pytest.raises(EditError, match="w has not run: change what arrives there"):
        session.edit.set(at, 1.0, grad=True)
    with pytest.raises(EditError, match="#1 is not a leaf"):
        session.edit.set(0, 1.0, grad=True)
    session.jump(at + 1)
    with pytest.raises(EditError, match="does not fit a gradient of shape"):
        session.edit.set(at, [1.0, 2.0, 3.0], grad=True)


def test_the_commands_take_the_name_of_the_gradient(
    session: Session, leaves: tuple[Any, Any]
) -> None:
    w, _ = leaves
    session.jump(session.length)
    assert session.reply("set w.grad 2").text == "set w.grad"
    assert session.reply("scale w.grad 1.5").text == "scale w.grad by 1.5"
    assert w.grad.tolist() == [3.0, 3.0]
    assert session.reply("zero w.grad").text == "zero w.grad"
    assert session.reply("mute w.grad").error
    assert session.reply("set q.grad 2").error
    assert [each.text for each in session.edit.records][-1] == "zero w.grad"


def test_the_ledger_has_a_line_for_each_change(leaves: tuple[Any, Any]) -> None:
    w, _ = leaves
    y = w * 1.0
    session = Session((y * 2.0 + y * 3.0).sum(), names=Names({"w": w}))
    at = session.breakpoints.locate("mul")[-1]
    session.jump(3)
    assert len(list(session.contributions(at))) == 1
    session.edit.scale(at, 10.0)
    session.jump(at)
    session.edit.zero(at)
    lines = [(e.edit, e.total.text() if e.total else None) for e in session.contributions(at)]
    assert lines == [
        ("", "[3, 3]"),
        (f"scale {step_number(at)} by 10", "[30, 30]"),
        ("", "[32, 32]"),
        (f"zero {step_number(at)}", "[0, 0]"),
    ]
    assert (
        f"scale {step_number(at)} by 10" in session.do(f"info contributions {step_number(at)}").text
    )


@pytest.mark.parametrize("line", ["scale 2", "clip 0.5", "zero"])
def test_a_change_of_what_no_longer_arrives_changes_nothing(torch: Any, line: str) -> None:
    a = torch.tensor(2.0, requires_grad=True)
    session = Session((a * 3.0).sin(), names={"a": a})
    for each in ("next 2", line, "back 2", "mute #1", "continue"):
        assert not session.reply(each).error
    assert "in     1 of 1 arrived\n         undefined" in session.reply("info node #3").text
    assert session.reply("difference").text.endswith("None in one of the two runs")
    assert a.grad is None
    session.reply("undo 2")
    session.finish()
    assert a.grad == 3.0 * torch.tensor(6.0).cos()


def test_a_change_of_a_grad_that_is_no_longer_there_changes_nothing(torch: Any) -> None:
    a = torch.tensor(2.0, requires_grad=True)
    session = Session((a * 3.0).sin(), names={"a": a})
    for line in ("continue", "scale a.grad 2", "restart", "mute #1", "continue"):
        assert not session.reply(line).error
    assert session.reply("info leaves").text.startswith("a.grad  1 of 1 in  None")


def test_a_leaf_whose_sum_was_edited_waits_no_more_once_it_has_run(torch: Any) -> None:
    w = torch.tensor(2.0, requires_grad=True)
    result = w * w  # a first part of the sum of w arrives early, and a long chain follows
    for _ in range(100):
        result = result * 1.01
    session = Session(result + w, names={"w": w})
    for line in ("next", "zero w", "undo", "continue"):
        assert not session.reply(line).error
    assert session.position == session.length
    assert session.snapshot.pending == ()
