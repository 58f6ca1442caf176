"""Programs that are recorded in memory and in a file at once, and runs that are compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gradstep.contract.events import noting_events
from gradstep.program.calls import CallSelector, intercepting
from gradstep.recording.facts import Header
from gradstep.recording.recorder import Flight, Recorder
from gradstep.recording.run import MemoryRun, Run, graph_of
from gradstep.recording.schedule import Schedule
from gradstep.recording.writing import FileSink

EVERY_CALL = CallSelector(None, ("backward", "grad"))
HEADER = Header(
    ("train.py", "--lr", "1"),
    {"torch": "2", "autograd_core": "2"},
    {"python": "3"},
    "here",
    1,
    4,
    1.5,
)


class Both:
    """A sink of several."""

    def __init__(self, *sinks: Any) -> None:
        self._sinks = sinks

    def __getattr__(self, name: str) -> Any:
        def told(*given: Any) -> None:
            for sink in self._sinks:
                getattr(sink, name)(*given)

        return told


@contextmanager
def recording(
    path: Path, schedule: Schedule, flight: Flight | None = None
) -> Iterator[tuple[MemoryRun, Recorder]]:
    """Record what runs inside, in memory and to ``path``."""
    memory = MemoryRun(HEADER)
    watcher = Recorder(Both(memory, FileSink(path, HEADER)), HEADER, schedule, flight)  # type: ignore[arg-type]
    try:
        with (
            noting_events(),
            intercepting(
                lambda found: False, EVERY_CALL, values="core", look=watcher, defers=True
            ) as calls,
        ):
            watcher.counts = calls.counts
            yield memory, watcher
    finally:
        watcher.end()


def assert_same(one: Run, other: Run) -> None:
    """See that two runs have the same facts, to the bit."""
    assert one.header == other.header
    assert list(one.leaves) == list(other.leaves)
    assert one.training == other.training
    assert list(one.warnings) == list(other.warnings)
    assert list(one.notes) == list(other.notes)
    assert one.is_finished == other.is_finished
    assert_same_texts(list(one.calls()), list(other.calls()))
    assert list(one.indices) == list(other.indices)
    assert list(one.full) == list(other.full)
    assert list(one.described) == list(other.described)
    for index in one.indices:
        assert_same_texts(list(one.of_leaves(index)), list(other.of_leaves(index)))
        first, second = one.flow(index), other.flow(index)
        if first is None or second is None:
            assert first is second
            continue
        assert first.steps == second.steps
        assert (first.nodes, first.edges) == (second.nodes, second.edges)
        assert list(first.values.dtypes) == list(second.values.dtypes)
        assert list(first.values.shapes) == list(second.values.shapes)
        assert_same_graphs(graph_of(one, index), graph_of(other, index))
        for number in range(len(first.values)):
            assert_same_arrays(first.values.array(number), second.values.array(number))
    for leaf in one.leaves:
        assert_same_texts(list(one.over_calls(leaf.number)), list(other.over_calls(leaf.number)))


def assert_same_texts(one: Any, other: Any) -> None:
    """See that two are equal; NaN, which is not equal to itself, is so as text. Of a description
    that is -0.0, SQLite keeps 0.0."""
    assert _MINUS_ZERO.sub("0.0", repr(one)) == _MINUS_ZERO.sub("0.0", repr(other))


_MINUS_ZERO = re.compile(r"-0\.0\b(?!\d)")


def assert_same_arrays(one: Any, other: Any) -> None:
    """See that two arrays agree to the bit, or are both not there."""
    if one is None or other is None:
        assert one is other
        return
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()


def assert_same_graphs(one: Any, other: Any) -> None:
    """See that two graphs tell the same of each node and each edge, but for the rounds of loops,
    which a recording does not tell."""
    nodes = ([node._replace(rounds=()) for node in graph.nodes()] for graph in (one, other))
    assert_same_texts(*nodes)
    assert_same_texts(list(one.edges()), list(other.edges()))
