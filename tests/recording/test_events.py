"""What the objects of a program did: a recording tells it as the run did, and the rules over it
find the same."""

from __future__ import annotations

import sqlite3
import types
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.contract.events import (
    KINDS,
    Called,
    Cleared,
    Clipped,
    Entry,
    Event,
    Events,
    Extent,
    Loaded,
    Passed,
    Restored,
    Scheduled,
    StateTaken,
    Stepped,
)
from gradstep.findings.report import report_on_recording
from gradstep.graph.model import Source
from gradstep.recording.errors import BadRecording
from gradstep.recording.event_rows import EventWriter, Noted, events_of
from gradstep.recording.reading import FileRun
from gradstep.recording.schedule import Schedule
from gradstep_tui.cli import main
from tests.recording.watched import recording

PROGRAM = """\
import torch
from torch import nn
from torch.optim import lr_scheduler
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.5)
sched = lr_scheduler.StepLR(opt, 1, gamma=0.001)
best = net.state_dict()
for epoch in range(5):
    for step in range(24):
        x = torch.randn(16, 4)
        loss = (net(x).squeeze(1) - x[:, 0]).square().mean()
        opt.zero_grad()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        loss.backward()
        opt.step()
    sched.step()
net.load_state_dict(best)
"""


def of_library(torch: types.ModuleType) -> str:
    return PROGRAM.replace("torch", torch.__name__, 1).replace(
        f"import {torch.__name__}", f"import {torch.__name__} as torch"
    ).replace("from torch", f"from {torch.__name__}")  # fmt: skip


def test_a_recording_has_the_findings_of_what_optimizers_did(
    torch: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("steps.py").write_text(of_library(torch))
    main(["check", "steps.py"])
    live = capsys.readouterr().out
    main(["record", "steps.py"])
    capsys.readouterr()
    main(["check", "run.gsr"])
    recorded = capsys.readouterr().out
    for code in ("clipping", "schedule", "loads-itself"):
        parts = [part for part in live.split("\n\n") if f"[{code}]" in part]
        assert parts, live
        assert all(part in recorded for part in parts), recorded


def test_events_are_recorded_as_they_happened(torch: types.ModuleType, tmp_path: Path) -> None:
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with recording(tmp_path / "run.gsr", Schedule("stats")) as (memory, _):
        for _ in range(30):
            opt.zero_grad()
            (net(torch.ones(2, 3)) ** 2).sum().backward()
            opt.step()
    live = list(memory.events)
    with FileRun(tmp_path / "run.gsr") as run:
        recorded = run.events
        assert len([event for event in live if not isinstance(event, Called)]) == 90
        assert [(type(e), e.number, e.kind) for e in recorded] == [
            (type(e), e.number, e.kind) for e in live
        ]
        names = {leaf.number: leaf.name for leaf in run.leaves}
        for step in recorded.of(Stepped):
            assert sorted(names[number] for number in step.leaves) == ["net.bias", "net.weight"]
            assert recorded.name(step.thing) == "opt"
            assert step.rates == (0.1,)
        assert len({id(step.thing) for step in recorded.of(Stepped)}) == 1
        assert [each.index for each in recorded.of(Passed)] == [*range(1, 31)]


def test_a_recording_of_the_version_before_has_no_events(tmp_path: Path) -> None:
    import autograd_core

    path = tmp_path / "run.gsr"
    with recording(path, Schedule("stats")):
        autograd_core.ones(2, requires_grad=True).sum().backward()
    database = sqlite3.connect(path)
    database.execute("DROP TABLE events")
    database.execute("PRAGMA user_version = 2")
    database.close()
    with FileRun(path) as run:
        assert not run.events
        assert len(run.indices) == 1
        missing = report_on_recording(run, "run.gsr", ()).not_run
    assert {"schedule", "clipping"} <= {rule.code for rule in missing}


@pytest.mark.parametrize(
    "damage",
    ["what = 'Ended'", "facts = '[]'", "facts = '[7]'", "facts = '[null, 1, 2, 3]'",
     "facts = '{'", "thing = -1", "facts = '[[\"a\"], [0.1]]'"],
)  # fmt: skip
def test_damaged_events_are_refused(tmp_path: Path, damage: str) -> None:
    import autograd_core

    path = tmp_path / "run.gsr"
    w = autograd_core.ones(2, requires_grad=True)
    opt = autograd_core.optim.SGD([w], lr=0.1)
    with recording(path, Schedule("stats")):
        w.sum().backward()
        opt.step()
    database = sqlite3.connect(path)
    database.execute(f"UPDATE events SET {damage} WHERE what = 'Stepped'")
    database.commit()
    database.close()
    with FileRun(path) as run, pytest.raises(BadRecording, match="damaged"):
        _ = run.events


leaves = st.frozensets(st.integers(0, 5))
entries = st.lists(
    st.builds(Entry, st.text(max_size=3), st.lists(st.integers(0, 9), max_size=3).map(tuple)),
    max_size=2,
).map(tuple)
numbers = st.floats(allow_nan=False, allow_infinity=False)
rates = st.lists(numbers, max_size=2).map(tuple)


class Thing:
    """What optimizers and modules are to events."""

    def __call__(self) -> None:
        return None


THINGS = [Thing() for _ in range(3)]
FACTS: dict[type[Event], dict[str, st.SearchStrategy[Any]]] = {
    Passed: {"index": st.integers(1, 99), "leaves": leaves},
    Stepped: {"leaves": leaves, "rates": rates},
    Cleared: {"leaves": leaves},
    Clipped: {"count": st.integers(0, 9), "leaves": leaves, "was_iterator": st.booleans()},
    Scheduled: {
        "optimizer": st.sampled_from([None, *THINGS]), "place": st.integers(0, 9),
        "given": st.none() | numbers, "rates": rates, "length": st.none() | st.integers(0, 9),
        "highest": numbers, "is_inner": st.booleans(),
    },
    Loaded: {
        "missing": entries, "unexpected": entries, "loaded": st.integers(0, 9),
        "own": st.integers(0, 9), "state": st.integers(0, 2),
    },
    Restored: {"before": rates, "rates": rates},
    StateTaken: {"state": st.integers(0, 2)},
    Called: {
        "is_training": st.booleans(), "has_gradients": st.booleans(),
        "given": st.none() | st.builds(Extent, st.just((3, 4)), numbers, numbers, numbers),
    },
}  # fmt: skip
happened = st.sampled_from(KINDS).flatmap(
    lambda kind: st.tuples(
        st.just(kind),
        st.fixed_dictionaries(
            {
                "thing": st.sampled_from([None, *THINGS]),
                "kind": st.sampled_from(["SGD", ""]),
                "source": st.sampled_from([None, Source("steps.py", 3)]),
                **FACTS[kind],
            }
        ),
    )
)


def compared(event: Event) -> dict[str, Any]:
    """Return what is to be the same, objects and identities by whether they are the same."""
    facts = asdict(event)
    return {
        key: value for key, value in facts.items() if key not in ("thing", "optimizer", "state")
    }


@given(st.lists(happened, max_size=12), st.integers(0, 12))
def test_events_are_read_as_they_were_written(
    listed: list[tuple[type[Event], dict[str, Any]]], part: int
) -> None:
    events = Events()
    writer = EventWriter(Noted(events, lambda identity: identity, lambda source: source))
    rows = []
    for place, (kind, facts) in enumerate(listed):
        events.add(kind, **facts)
        if place == part:
            rows += writer.rows()
    rows += writer.rows()
    read = events_of(rows, [f"leaf {number}" for number in range(6)], 1 << 20)
    assert list(map(compared, read)) == list(map(compared, events))
    for one, other in zip(events, read, strict=True):
        for third, fourth in zip(events, read, strict=True):
            assert (one.thing is third.thing) == (other.thing is fourth.thing)


ODD = """\
import LIBRARY as torch
from LIBRARY.optim import lr_scheduler
class Mine(lr_scheduler.LRScheduler):
    def get_lr(self):
        return [0.1 for group in self.optimizer.param_groups]
    def step(self, epoch=None):
        super().step()
        self.last_epoch, self.T_max = -3, True
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
mine = Mine(opt)
for step in range(4):
    w.sum().backward()
    opt.step()
    mine.step()
opt.load_state_dict(opt.state_dict())
"""


def test_what_an_odd_scheduler_says_damages_no_recording(
    torch: types.ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd.py").write_text(ODD.replace("LIBRARY", torch.__name__))
    assert main(["record", "odd.py"]) == 0
    with FileRun(tmp_path / "run.gsr") as run:
        steps = run.events.of(Scheduled)
        assert {(step.place, step.length) for step in steps[1:]} == {(0, None)}
        assert [event.rates for event in run.events.of(Restored)] == [(0.1,)]
