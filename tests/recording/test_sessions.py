"""A session on a recorded call shows what the session on the call itself shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import autograd_core
from gradstep.capturing import View
from gradstep.capturing.names import Names
from gradstep.capturing.sources import with_portable_sources
from gradstep.console.session import Session
from gradstep.debugger.history.observed_pass import ObservedPass
from gradstep.debugger.snapshot import NodeDetail, Snapshot, Value
from gradstep.engines.recorded import RecordedCall
from gradstep.engines.recorded.values import RecordedValue
from gradstep.graph.model import Graph
from gradstep.graph.statistics import of_number
from gradstep.graph.statistics_table import StatisticsTable
from gradstep.program.calls import InterceptedCall, intercepting
from gradstep.recording.facts import Level, Values
from gradstep.recording.reading import FileRun
from gradstep.recording.run import Run
from gradstep.recording.schedule import Schedule
from tests.autograd_core.programs import (
    Instruction,
    Program,
    leaves_of,
    programs,
    run_program,
)
from tests.recording.watched import EVERY_CALL, assert_same_graphs, recording

try:
    import torch as pytorch
except ImportError:
    pytorch = None


needs_torch = pytest.mark.skipif(pytorch is None, reason="PyTorch is not installed")
on_both = pytest.mark.parametrize(
    "torch",
    [autograd_core, pytest.param(pytorch, marks=[pytest.mark.torch, needs_torch])],
    ids=["core", "torch"],
)


def run_whole(program: Program, torch: Any) -> None:
    """Run a program; one of its leaves has a gradient already."""
    leaves = leaves_of(program, torch)
    leaves[0].grad = torch.ones(2, 2)
    loss = run_program(program, torch, leaves)
    loss.backward()


@contextmanager
def recorded(program: Program, torch: Any, level: Level) -> Iterator[list[Run]]:
    """Record the program, in memory and in a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.gsr"
        with recording(path, Schedule(level, lambda number, kind: True)) as (memory, _):
            run_whole(program, torch)
        with FileRun(path) as file:
            yield [memory, file]


def looked_at(program: Program, torch: Any, look: Callable[[InterceptedCall], Any]) -> None:
    """Run the program, and hand its call to ``look``."""

    def handle(found: InterceptedCall) -> bool:
        look(found)
        return True

    with intercepting(handle, EVERY_CALL, values="core", ours=(AssertionError,)):
        run_whole(program, torch)


def session_on(run: Run) -> Session:
    return Session.of_call(RecordedCall(run, 1), names=Names())


def rounded(value: Any) -> Any:
    """What level ``stats`` keeps of a value: what is described with others differs by an ulp."""
    if isinstance(value, Value):
        return value.shape, value.dtype, rounded(value.statistics)
    if isinstance(value, float):
        return f"{value + 0.0:.12g}"  # SQLite knows no -0.0
    if hasattr(value, "__dataclass_fields__"):
        return [rounded(getattr(value, each)) for each in value.__dataclass_fields__]
    return [rounded(each) for each in value] if isinstance(value, (tuple, list)) else value


def shown(session: Session) -> list[Any]:
    """All that is shown at a position, but for what is not recorded: times, memory, saved values,
    numbers in rules, why nothing can be changed, and hooks before they are called."""
    snapshot: Snapshot = session.snapshot

    def same(detail: NodeDetail) -> NodeDetail:
        return replace(
            detail, saved=(), formulas=(), seconds=None, nbytes=0, terms=(), rule_line=None,
            forward=None, hooks=(),
        )  # fmt: skip

    return [
        snapshot.call, snapshot.position, snapshot.recorded, snapshot.length, snapshot.status,
        snapshot.reason, snapshot.pending, snapshot.breakpoints, snapshot.kind, snapshot.phase,
        list(snapshot.leaves), [same(session.detail(index)) for index in range(session.length)],
        [list(session.contributions(index)) for index in range(session.length)],
    ]  # fmt: skip


def addresses(session: Session) -> list[str]:
    return [node.address for node in session.graph.nodes()]


def timeline(session: Session) -> list[Any]:
    """What a call did to its leaves; one that nothing holds but the graph has no ``.grad`` after
    it."""
    (call,) = session.timeline.calls
    leaves = [leaf for leaf in call.leaves if not leaf.name.startswith("AccumulateGrad")]
    return [rounded(call._replace(source=None, leaves=())), rounded(leaves)]


def assert_alike(live: Session, replayed: Session, level: Level) -> None:
    one, other = shown(live), shown(replayed)
    for mine, theirs in zip(one, other, strict=True) if level == "all" else ():
        if isinstance(mine, list):
            assert [
                at for at, two in enumerate(zip(mine, theirs, strict=True)) if two[0] != two[1]
            ] == []
        assert mine == theirs
    assert rounded(one[:-1]) == rounded(other[:-1])


@pytest.mark.sampled(2, torch=1)
@on_both
@pytest.mark.parametrize("level", ["stats", "all"])
@settings(max_examples=settings().max_examples // 4, phases=[Phase.explicit, Phase.generate])
@given(program=programs(8), walk=st.lists(st.integers(0, 40), max_size=4))
def test_every_position_is_as_in_the_live_session(
    torch: Any, level: Level, program: Program, walk: list[int]
) -> None:
    with recorded(program, torch, level) as runs:

        def compare(found: InterceptedCall) -> None:
            live = Session.of_call(found.call, names=found.names)
            replayed = [session_on(run) for run in runs]
            for each in replayed:
                assert addresses(each) == addresses(live)
            for position in [*range(live.length + 1), *walk]:
                live.jump(position)
                for each in replayed:
                    each.jump(position)
                    assert_alike(live, each, level)
            live.finish()
            for each in replayed:
                each.finish()
                assert timeline(each) == timeline(live)

        looked_at(program, torch, compare)


def without(graph: Graph, nodes: set[int]) -> Graph:
    """Return a graph without the values of ``nodes``: a live look describes those of ops only."""
    kept = {id: each for id, each in graph.statistics.items() if id not in nodes}
    return replace(graph, statistics=kept)


VIEWS: tuple[View, ...] = ("forward", "backward", "both")


@on_both
def test_halves_and_frames_are_as_of_the_live_call(torch: Any) -> None:
    program = Program((True, True), (Instruction("mul", (0, 1)), Instruction("hooked", (0,))), 3)
    compared = []
    with recorded(program, torch, "stats") as runs:

        def compare(found: InterceptedCall) -> None:
            for run, view in product(runs, VIEWS):
                replayed = ObservedPass(RecordedCall(run, 1), Names())
                with ObservedPass(found.call, found.names) as live:
                    for stop in (0, 2, None):
                        live.run(stop)
                        replayed.run(stop)
                        told = with_portable_sources(live.graph(view), Path.cwd())
                        known = replayed.graph(view)
                        results = {id for id, half in enumerate(known.halves) if half == "forward"}
                        assert_same_graphs(without(known, results), without(told, results))
                        compared.append(view)

        looked_at(program, torch, compare)
    assert len(compared) == 18


@needs_torch
@pytest.mark.torch
def test_complex_leaves_are_told_of_as_by_the_live_session(tmp_path: Path) -> None:
    def program() -> None:
        c = pytorch.tensor([1 + 2j, -3j], requires_grad=True)
        (c * c.conj()).real.sum().backward()

    told: list[str] = []

    def look(found: InterceptedCall) -> bool:
        session = Session.of_call(found.call, names=found.names)
        session.do("continue")
        told.append(session.do("info leaves").text)
        session.finish()
        return True

    with intercepting(look, EVERY_CALL, values="core"):
        program()
    with recording(tmp_path / "run.gsr", Schedule("all", lambda number, kind: True)):
        program()
    with FileRun(tmp_path / "run.gsr") as run:
        replayed = session_on(run)
        replayed.do("continue")
        assert [replayed.do("info leaves").text] == told
    assert "rms" in told[0]


@pytest.mark.parametrize("number", [0, 1000, 1 - 2**53, 2**53 - 1, 2**53, 2**53 + 1, -(2**53)])
def test_a_recorded_integer_is_told_as_far_as_its_description_tells_it(number: int) -> None:
    described = StatisticsTable.of([of_number(number)])
    value = RecordedValue(Values(described, [(1,)], ["int64"]), 0)
    assert value.has_numbers == (abs(number) < 2**53)
    if value.has_numbers:
        array = value.array()
        assert array is not None
        assert array.tolist() == [number]
