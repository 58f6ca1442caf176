"""Random programs, random walks: what the debugger shows at a position is always the same, and
the gradients at the end are those of a plain pass, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_core as torch
from gradstep.capturing import Names
from gradstep.debugger.errors import EditError
from gradstep.debugger.passes import cursor
from gradstep.debugger.session import Session
from gradstep.debugger.snapshot import Snapshot
from gradstep.engines.native import driver
from gradstep.graph.addresses import step_number
from tests.autograd_core.programs import Program, leaves_of, programs, run_program

BUDGETS = st.sampled_from([0, 2_000, 20_000, 2**30])
MOVES = (
    "next", "back", "step", "step_back", "over", "out", "back_over", "back_out", "jump", "restart",
    "continue", "reverse-continue",
)  # fmt: skip
ARGUMENTS = {"scale": (3.0,), "clip": (0.1,), "set": (0.5,), "mute_edge": (0,)}


@st.composite
def walks(draw: st.DrawFn) -> list[tuple[str, int]]:
    return draw(st.lists(st.tuples(st.sampled_from(MOVES), st.integers(1, 12)), max_size=14))


@pytest.fixture(autouse=True, scope="module")
def short_ways_are_passed_over() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cursor, "LONG", 1)
        patch.setattr(driver, "_FEWEST", 1)
        yield


def started(
    program: Program, budget: int, *, records_all: bool = True
) -> tuple[Session, list[Any]]:
    leaves = leaves_of(program, torch)
    names = Names({f"leaf{number}": leaf for number, leaf in enumerate(leaves)})
    root = run_program(program, torch, leaves)
    session = Session(root, names=names, history_bytes=budget)
    session.cursor.records_all = records_all
    return session, leaves


def move(session: Session, name: str, count: int) -> None:
    match name:
        case "jump":
            session.jump(count)
        case "restart":
            session.restart()
        case "continue":
            session.continue_()
        case "reverse-continue":
            session.reverse_continue()
        case _:
            getattr(session, name)(count)


def bits(leaves: list[Any]) -> list[bytes | None]:
    return [None if leaf.grad is None else leaf.grad.array.tobytes() for leaf in leaves]


def plain(program: Program) -> list[bytes | None]:
    leaves = leaves_of(program, torch)
    run_program(program, torch, leaves).backward()
    return bits(leaves)


def facts(session: Session) -> list[Any]:
    """All that may not depend on the way that led to a position."""
    shown: Snapshot = session.snapshot
    details = [session.detail(index) for index in range(session.length)]
    told = [
        (d.status, d.incoming, d.outgoing, d.phases, d.formulas, d.hooks, d.saved) for d in details
    ]
    return [shown.position, shown.phase, shown.leaves, shown.pending, told]


@settings(max_examples=60)
@given(programs(), walks(), BUDGETS, st.booleans())
def test_a_walk_ends_with_the_gradients_of_a_plain_pass(
    program: Program, walk: list[tuple[str, int]], budget: int, records_all: bool
) -> None:
    session, leaves = started(program, budget, records_all=records_all)
    for name, count in walk:
        move(session, name, count)
    session.finish()
    assert bits(leaves) == plain(program)


@settings(max_examples=40)
@given(programs(8), walks(), BUDGETS, st.integers(0, 20), st.booleans())
def test_a_position_shows_the_same_however_it_was_reached(
    program: Program, walk: list[tuple[str, int]], budget: int, point: int, records_all: bool
) -> None:
    session, _ = started(program, budget, records_all=records_all)
    session.breakpoints.add(step_number(point % session.length))
    seen: dict[tuple[int, int], list[Any]] = {}
    for name, count in walk:
        move(session, name, count)
        known = facts(session)
        assert seen.setdefault((session.position, session.snapshot.phase), known) == known
    reference, _ = started(program, 2**30)
    for (position, phase), known in seen.items():
        reference.jump(position)
        reference.step(phase) if phase else None
        assert facts(reference) == known


@settings(max_examples=40)
@given(programs(8), walks(), st.data(), BUDGETS, st.booleans())
def test_edits_that_are_undone_leave_no_trace(
    program: Program,
    walk: list[tuple[str, int]],
    data: st.DataObject,
    budget: int,
    records_all: bool,
) -> None:
    session, leaves = started(program, budget, records_all=records_all)
    made = 0
    for name, count in walk:
        move(session, name, count)
        index = session.position + data.draw(st.integers(0, 3))
        kind = data.draw(st.sampled_from(["scale", "zero", "clip", "set", "mute_edge", "none"]))
        argument = ARGUMENTS.get(kind, ())
        try:
            if kind != "none":
                getattr(session.edit, kind)(index, *argument)
                made += 1
        except EditError:
            pass
    assert len(session.snapshot.edits) == made
    for _ in range(made):
        session.edit.undo()
    assert session.snapshot.edits == ()
    session.finish()
    assert bits(leaves) == plain(program)


@settings(max_examples=40)
@given(programs(8), st.integers(0, 10), st.integers(0, 10), BUDGETS)
def test_an_edited_run_is_a_run_with_a_hook_that_does_the_same(
    program: Program, position: int, further: int, budget: int
) -> None:
    session, leaves = started(program, budget)
    session.jump(min(position, session.length - 1))
    try:
        session.edit.scale(session.position, 2.0)
    except EditError:
        return
    node = session.graph.node(session.position)
    session.next(further)
    session.back(further)
    before = facts(session)
    session.next(further)
    session.back(further)
    assert facts(session) == before
    session.jump(session.length)
    changed = {each.name: each for each in session.edit.difference()}
    session.finish()

    unedited = plain(program)
    for number, leaf in enumerate(leaves):
        found = changed.get(f"leaf{number}")
        if found is not None and found.norm is not None:
            was = np.frombuffer(unedited[number] or b"", np.float32).reshape(2, 2)
            changed_by = leaf.grad.array.astype(np.float64) - was  # whose square may be large
            assert found.norm == pytest.approx(np.linalg.norm(changed_by), abs=1e-5)
        elif leaf.edge is not None:
            assert bits([leaf]) == [unedited[number]]
    assert node is not None
