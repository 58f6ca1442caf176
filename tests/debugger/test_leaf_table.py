"""The table of leaves of a snapshot: rows are made when they are read, and say the same."""

from __future__ import annotations

from typing import Any

import pytest

from gradstep.console.session import Session
from gradstep.debugger.passes import inspector, leaf_history
from gradstep.debugger.snapshot import LeafGradient


def chain(torch: Any, leaves: int) -> Any:
    parameters = [torch.ones(2, requires_grad=True) for _ in range(leaves)]
    total = parameters[0] * parameters[-1]
    for parameter in parameters:
        total = total + parameter
    return total.sum()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The leaves whose rows are made, by their plan indices."""
    found: list[int] = []

    def make(index: int, *given: Any, **named: Any) -> LeafGradient:
        found.append(index)
        return LeafGradient(index, *given, **named)

    for module in (inspector, leaf_history):
        monkeypatch.setattr(module, "LeafGradient", make)
    return found


def test_a_snapshot_costs_what_was_moved_and_not_how_many_leaves_there_are(
    torch: Any, made: list[int]
) -> None:
    counts = []
    for leaves in (10, 300):
        made.clear()
        session = Session(chain(torch, leaves))
        assert len(session.snapshot.leaves) == leaves
        at_first = len(made)
        session.next(8)
        _ = session.snapshot
        counts.append((at_first, len(made)))
    assert counts[0] == counts[1]
    assert counts[0][0] == 0
    made.clear()
    waiting = session.snapshot.leaves[-9]
    assert session.snapshot.leaves.of(waiting.index) is waiting
    assert made == [waiting.index]


def shown(leaf: LeafGradient) -> tuple[Any, ...]:
    values = (leaf.before, leaf.now, leaf.pending)
    texts = tuple(None if each is None else each.text() for each in values)
    return (leaf.index, leaf.name, leaf.shape, *texts, leaf.arrived, leaf.expected)


def test_rows_that_are_read_later_say_what_they_would_have_said_at_once(torch: Any) -> None:
    read = []
    for later in (False, True):
        a, b, c = (torch.full((2,), float(n), requires_grad=True) for n in (2, 3, 4))
        b.grad = torch.full((2,), 7.0)
        y = a * b
        y.register_hook(lambda g, c=c: setattr(c, "grad", torch.full((2,), 9.0)))
        session = Session((y * a + c * y).sum())
        tables = []
        for _ in range(session.length):
            tables.append(session.snapshot.leaves)
            if not later:
                list(tables[-1])
            session.next()
        session.back(4)
        tables.append(session.snapshot.leaves)
        session.continue_()
        session.reply("set b.grad * 2")
        tables.append(session.snapshot.leaves)
        session.finish()
        read.append([[shown(leaf) for leaf in table] for table in tables])
    assert read[0] == read[1]
    assert len({str(rows) for rows in read[0]}) > 4


def test_a_table_is_a_sequence(torch: Any) -> None:
    session = Session(chain(torch, 5))
    leaves = session.snapshot.leaves
    assert [each.index for each in leaves] == list(leaves.indices)
    assert [each.index for each in leaves[1:3]] == list(leaves.indices[1:3])
    assert leaves == tuple(leaves)
    assert leaves.of(0) is None
    assert leaves.of(10_000) is None
    assert leaves.reached == []
    session.jump(session.length)
    after = session.snapshot.leaves
    assert after != leaves
    assert after.reached == list(after)
    assert after.before(session.length) == len(after)
