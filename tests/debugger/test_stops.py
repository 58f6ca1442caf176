"""Where a session stops, and what it says then: places, conditions, watches, log points, counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradstep import trace
from gradstep.console.session import Session
from gradstep.debugger.breakpoints import Breakpoints
from tests.both import on_the_core

LINE = next(
    number
    for number, line in enumerate(Path(__file__).read_text("utf-8").splitlines(), 1)
    if line.strip() == "state = weight * state + 1.0"
)


def recurrence(weight: Any, steps: int = 3, breakpoints: Breakpoints | None = None) -> Session:
    """state = weight · state + 1, from 1: the gradient doubles at every step."""
    with trace():
        state = weight.new_tensor(1.0)
        for _ in range(steps):
            state = weight * state + 1.0
    return Session(state, breakpoints=breakpoints)


@pytest.fixture
def weight(torch: Any) -> Any:
    return torch.tensor(2.0, requires_grad=True)


@pytest.fixture
def session(weight: Any) -> Session:
    return recurrence(weight)


def stops_of(session: Session, command: str = "continue", most: int = 20) -> list[str]:
    """The addresses at which it stops, one after the other, up to the end."""
    found = []
    for _ in range(most):
        before = session.position
        assert not session.reply(command).error
        if session.position in (0, session.length, before):
            return found
        found.append(session.graph.address(session.position))
    return found


@pytest.mark.parametrize(
    ("command", "addresses"),
    [
        ("break mul", ["mul:3", "mul:2", "mul:1"]),
        ("break mul if rms > 1", ["mul:2", "mul:1"]),
        ("break mul if rms>1 and rms<4", ["mul:2"]),
        ("break mul:2", ["mul:2"]),
        ("break weight", ["weight"]),
        ("break #4", ["mul:2"]),
        ("break mul if hits == 1", []),
        ("break mul if call == 2", []),
        ("break mul if index > 3", ["mul:1"]),
        ("break mul if op == 'mul' and address ~ '*:1'", ["mul:1"]),
        ("break mul if ratio >= 1", ["mul:3", "mul:2", "mul:1"]),
        ("break mul if shape == ()", ["mul:3", "mul:2", "mul:1"]),
        ("break mul if out.undefined", []),
        ("tbreak mul", ["mul:3"]),
        ("break if rms == 2", ["add:2", "mul:2"]),
        ("break * if rms == 2", ["add:2", "mul:2"]),
        ("catch rms == 2", ["add:2"]),
        ("catch rms > 1", ["add:2"]),
        ("catch ratio > 1.9 and leaf == ''", ["add:2", "add:1"]),
        (f"break test_stops.py:{LINE}", ["mul:3", "add:2", "mul:2", "add:1", "mul:1"]),
        (f"break debugger/test_stops.py:{LINE} if rms > 3", ["add:1", "mul:1"]),
        (f"break other_test_stops.py:{LINE}", None),
    ],
)
def test_a_stop_is_where_it_was_asked_for(
    session: Session, command: str, addresses: list[str] | None
) -> None:
    reply = session.reply(command)
    if addresses is None:
        assert reply.error
        return
    assert not reply.error, reply.text
    assert stops_of(session) == addresses


@pytest.mark.parametrize("command", ["break mul if rms > 1", "break if rms == 2", "catch rms > 1"])
def test_backwards_it_stops_at_the_same_places(session: Session, command: str) -> None:
    session.reply(command)
    forwards = stops_of(session)
    assert session.position == session.length
    assert stops_of(session, "reverse-continue") == forwards[::-1]
    assert session.position == 0


def test_a_catch_names_the_node_that_made_it_and_the_output(torch: Any) -> None:
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    with trace():
        y = (x * x).sqrt()
    session = Session(y.sum())
    session.reply("catch nan")
    text = session.reply("continue").text
    assert "out.0 of #3 mul:1 is nan 1/2" in text
    assert "the incoming gradient has no nan: it began" in text
    assert "1 of 2 are infinite; there inf" in text
    assert "test_stops.py" in text
    assert session.position == 3
    assert "mul:1" in session.reply("frame").text
    assert session.reply("print out.0.nan").text == "out.0.nan = yes"


def test_a_catch_does_not_blame_those_who_pass_it_on(weight: Any) -> None:
    session = Session(((weight - 2.0).sqrt() * 0.0).tanh().sin())
    session.reply("catch nan")
    session.reply("continue")
    place = session.position
    assert "sqrt:1 is nan" in session.snapshot.reason
    session.reply("continue")
    assert session.position == session.length
    session.reply("restart")
    session.reply("disable 1")
    session.reply("break if nan")
    session.reply("continue")
    assert session.position == place
    assert "the incoming gradient already met the condition" in session.do("continue").text


def test_a_sum_can_make_what_none_of_its_terms_is(torch: Any, weight: Any) -> None:
    big = torch.tensor([3e38], dtype=torch.float32, requires_grad=True)
    y = big * 1.0
    session = Session((y + y).sum(), torch.tensor(3e38, dtype=torch.float32))
    session.reply("catch inf")
    text = session.reply("continue").text
    assert "in of #3 mul:1 is inf" in text
    assert "none of the 2 terms of this sum meets the condition" in text


def test_the_seed_is_blamed_for_what_it_brings(torch: Any, weight: Any) -> None:
    session = Session(weight * 3.0, torch.tensor(float("nan")))
    session.reply("catch nan")
    assert (
        "the gradient passed to backward() already met the condition" in session.do("continue").text
    )


def test_accumulation_is_caught_where_grad_overflows(torch: Any) -> None:
    w = torch.tensor(1.0, dtype=torch.float32, requires_grad=True)
    w.grad = torch.tensor(3e38, dtype=torch.float32)
    session = Session(w * 3e38)
    session.reply("catch inf")
    assert "w.grad is inf" in session.do("continue").text


@on_the_core
def test_a_watch_stops_where_a_hook_of_another_node_changes_grad(torch: Any, weight: Any) -> None:
    other = torch.tensor(2.0, requires_grad=True)
    weight.grad = torch.tensor(1.0)
    y = other * 3
    y.register_hook(lambda g: weight.grad.add_(9))
    session = Session(y * weight, names={"weight": weight, "other": other})
    session.reply("watch weight")
    stops = [session.reply("continue").text.splitlines()[0] for _ in range(3)]
    assert stops == [
        "watch 1: weight.grad, old 1, new 7",
        "watch 1: weight.grad, old 7, new 16, by code that ran in #3",
        "end of the backward pass",
    ]
    session.reply("reverse-continue")
    assert session.position == 3


def test_a_watch_stops_when_grad_has_changed(weight: Any) -> None:
    session = recurrence(weight)
    assert session.reply("watch weight").text == "watch 1: weight.grad (#7)"
    assert "watch 1: weight.grad, old None, new 17" in session.do("continue").text
    session.finish()
    other = recurrence(weight)
    other.reply("watch weight.grad if grad.rms > 100")
    other.reply("watch weight.grad")
    assert "watch 2: weight.grad, old 17, new 34" in other.reply("continue").text


def test_a_watch_sleeps_while_nothing_changes(torch: Any, weight: Any) -> None:
    weight.grad = torch.tensor(5.0)
    session = Session(weight * 0.0)
    session.reply("watch weight")
    assert session.reply("continue").text == "end of the backward pass"


def test_log_points_say_and_do_not_stop(session: Session) -> None:
    session.reply("logpoint mul seen {hits} times: rms {rms}, {{braces}}, {1/0}, {zeros} {shape}")
    assert session.reply("continue").text.splitlines() == [
        "#2 mul:3: seen 0 times: rms 1, {braces}, <float division by zero>, 0 []",
        "#4 mul:2: seen 1 times: rms 2, {braces}, <float division by zero>, 0 []",
        "#6 mul:1: seen 2 times: rms 4, {braces}, <float division by zero>, 0 []",
        "end of the backward pass",
    ]


def test_a_log_point_can_have_a_condition(session: Session) -> None:
    session.reply("dprintf mul,rms {rms}")
    session.reply("condition 1 rms > 3")
    assert session.reply("continue").text.splitlines()[0] == "#6 mul:1: rms 4"


def test_ignored_hits_are_counted_and_passed_by(session: Session) -> None:
    session.reply("break mul")
    assert session.reply("ignore 1 2").text == "breakpoint 1 ignores its next 2 hits"
    assert stops_of(session) == ["mul:1"]
    point = session.breakpoints.points[0]
    assert (point.hits, point.ignore) == (3, 0)


def test_disabled_points_neither_stop_nor_count(session: Session) -> None:
    for command in ("break mul", "catch rms > 1", "watch weight", "disable"):
        session.reply(command)
    assert stops_of(session) == []
    assert [point.hits for point in session.breakpoints.points] == [0, 0, 0]
    session.reply("restart")
    session.reply("enable 1 3")
    assert stops_of(session) == ["mul:3", "mul:2", "mul:1"]


def test_of_several_points_at_one_place_the_first_is_reported_and_all_count(
    session: Session,
) -> None:
    for command in ("break #2 if rms > 5", "break mul", "break #2"):
        session.reply(command)
    assert session.reply("continue").text.splitlines()[0] == "breakpoint 2: mul"
    assert [point.hits for point in session.breakpoints.points] == [0, 1, 1]


def test_a_condition_without_an_answer_is_told_once_and_is_no_hit(session: Session) -> None:
    session.reply("break mul if 1 / (rms - 2) > 0")
    text = session.reply("continue").text
    assert text.count("cannot be answered") == 1
    assert "cannot be answered before #4, and counts as not hit (float division by zero)" in text
    assert session.graph.address(session.position) == "mul:1"
    session.reply("restart")
    assert "cannot be answered" not in session.do("continue").text


def test_points_outlive_their_pass_and_wait_for_their_place(weight: Any) -> None:
    first = recurrence(weight)
    for command in ("break mul", "break --pending tanh if rms < 2", "catch zero"):
        assert not first.reply(command).error
    assert "waits for a pass that has this place" in first.reply("info breakpoints").text
    second = Session(weight.tanh() * 2.0, call=2, breakpoints=first.breakpoints)
    assert [point.indices for point in second.breakpoints.points] == [(0,), (1,), ()]
    assert second.reply("continue").text.splitlines()[0] == "breakpoint 2: tanh if rms < 2" or (
        second.position == second.length
    )
    assert recurrence(weight, breakpoints=second.breakpoints).breakpoints.points[1].indices == ()


def test_numbers_are_never_used_twice(session: Session) -> None:
    for command in ("break mul", "break add", "delete 2", "break weight"):
        session.reply(command)
    assert [point.number for point in session.breakpoints.points] == [1, 3]


def test_the_session_need_not_look_after_each_step_without_conditions(session: Session) -> None:
    breakpoints, end = session.breakpoints, session.length

    def asked() -> list[int]:
        """The positions at which it looks, on the way to the end."""
        found = [0]
        while found[-1] < end:
            found.append(breakpoints.next_position(found[-1], end))
        return found[1:]

    assert asked() == [end]
    session.reply("break mul if rms > 3")
    session.reply("watch weight")
    assert asked() == [1, 3, 5, 7] == [1, 3, 5, end]
    assert breakpoints.next_position(7, 0) == 5
    session.reply("catch nan")
    assert asked() == list(range(1, end + 1))
    session.reply("disable")
    assert asked() == [end]
