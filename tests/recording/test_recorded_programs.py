"""Random programs that are recorded: they end as they do plainly, and what is read back is what a
live look gives."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from gradstep.capturing.sources import with_portable_sources
from gradstep.graph.model import Graph
from gradstep.program.calls import InterceptedCall, intercepting, run_and_capture
from gradstep.recording.reading import FileRun
from gradstep.recording.recorder import Flight
from gradstep.recording.run import MemoryRun, Run, graph_of
from gradstep.recording.schedule import Schedule
from tests.laws.programs import random_program, run
from tests.recording.watched import EVERY_CALL, assert_same, assert_same_texts, recording

LIBRARIES = ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]
SCHEDULES = [
    (Schedule("all", lambda number, kind: True), None),
    (Schedule("all", budget=1.05), None),
    (Schedule("stats", every=2), None),
    (Schedule("leaves"), None),
    (Schedule("stats"), Flight(("nan",), keep=2)),
]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("way", range(len(SCHEDULES)))
def test_a_recorded_program_ends_as_it_does_plainly(
    library: str, way: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in range(3):
        rng = random.Random(f"{seed} {way}")
        program = random_program(rng)
        plain = run(program, library)
        path = tmp_path / f"{seed}.gsr"
        kept: list[MemoryRun] = []

        def around(body: Callable[[], None], path: Path = path, kept: Any = kept) -> None:
            with recording(path, *SCHEDULES[way]) as (memory, _):
                kept.append(memory)
                body()

        recorded = run(program, library, around)
        assert not plain.difference(recorded), (seed, plain.difference(recorded))
        assert "defect" not in capsys.readouterr().err
        with FileRun(path) as found:
            assert found.is_finished
            assert_same(found, kept[0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_recording_tells_what_a_live_look_does(library: str, tmp_path: Path) -> None:
    compared = 0
    for seed in range(5):
        program = random_program(random.Random(seed))
        path = tmp_path / f"{seed}.gsr"
        live: list[tuple[str, Graph]] = []

        def look(found: InterceptedCall, live: Any = live) -> Any:
            graph, answer = run_and_capture(found, "both")
            live.append((found.title, with_portable_sources(graph, Path.cwd())))
            return answer

        def watched(body: Callable[[], None], path: Path = path) -> None:
            with recording(path, Schedule("all", lambda number, kind: True)):
                body()

        def looked_at(body: Callable[[], None], look: Any = look) -> None:
            with intercepting(look, EVERY_CALL, values="core"):
                body()

        run(program, library, watched)
        run(program, library, looked_at)
        with FileRun(path) as found:
            full = {found.call(index).title: index for index in found.full}
            for title, graph in live:
                assert_tells(found, full[title], graph)
                compared += 1
    assert compared > 5


def assert_tells(found: Run, index: int, live: Graph) -> None:
    """See that a recorded call tells all that a live look tells of its graph; it may know more of
    the forward values, which are saved in the nodes of a graph."""
    recorded = graph_of(found, index)
    assert len(recorded) == len(live)
    for one, other in zip(recorded.nodes(), live.nodes(), strict=True):
        if other.half == "forward" and other.statistics is None:
            one = one._replace(statistics=None)
        if other.source is not None and other.source.file.endswith(Path(__file__).name):
            one = one._replace(source=other.source)  # that of a node which a pass has made
        assert_same_texts(one, other._replace(rounds=()))
    assert_same_texts(list(recorded.edges()), list(live.edges()))


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_an_optimizer_has_and_no_call_came_to_is_recorded(
    library: str, tmp_path: Path
) -> None:
    torch = import_module(library)
    used, other = torch.nn.Linear(2, 1), torch.nn.Linear(3, 1, bias=False)
    sgd = torch.optim.SGD([*used.parameters(), *other.parameters()], lr=0.25)
    path = tmp_path / "run.gsr"
    with recording(path, Schedule("leaves")) as (memory, _):
        used(torch.ones(2)).sum().backward()
        sgd.step()
    with FileRun(path) as found:
        assert_same(found, memory)
        (group,) = found.training.groups
        assert group[:2] == ("sgd", "SGD")
        assert group.options["lr"] == 0.25
        names = {found.leaves[each].name: [*found.over_calls(each)] for each in group.leaves}
        assert sorted(names) == ["other.weight", "used.bias", "used.weight"]
        assert [name for name, calls in names.items() if not calls] == ["other.weight"]
