"""Facts of a run in memory, and how much is kept of which call."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import autograd_core as torch
from gradstep.capturing.names import Names
from gradstep.contract.lookup import engine_of
from gradstep.findings.facts.history import histories, lines_of
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Call, Graph, SavedValue, Source
from gradstep.graph.serialize import from_json, to_json
from gradstep.graph.statistics import statistics
from gradstep.recording.errors import NotRecorded
from gradstep.recording.facts import CallFacts, Header, Leaf, LeafFacts
from gradstep.recording.leaves import LeafWatch
from gradstep.recording.run import MemoryRun, graph_of, quick_key, structure_of
from gradstep.recording.schedule import Account, Schedule
from tests.recording.watched import recording


def test_the_stem_of_a_node_survives_a_file() -> None:
    build = GraphBuilder()
    build.node("op", "backward", "ConvolutionBackward0", stem="conv_transpose")
    graph = build.graph()
    assert from_json(to_json(graph)).address(0) == graph.address(0) == "conv_transpose:1"


def test_graphs_of_another_document_have_another_quick_key() -> None:
    def graph(change: str = "") -> Graph:
        build = GraphBuilder("loss")
        leaf = build.node("parameter", "forward", "w", variable="w", shape=(2,), dtype="float32")
        op = build.node("op", "forward", "mul", shape=(2,), source=Source("train.py", 3))
        node = build.node("op", "backward", "MulBackward0", order=0)
        build.edge("value", leaf, op, shape=(2,), nbytes=8)
        build.pair(op, node)
        build.saved[node] = (SavedValue("self", (2,), "float32", 8, storage=0),)
        match change:
            case "cut":
                build.cuts[leaf] = "detach()"
            case "result":
                build.results[op] = "y"
            case "call":
                build.calls.append(Call("net", 1))
                build.call_of[op] = 0
            case "module":
                build.module_details["net"] = "stride 2"
            case "saved":
                build.saved[op] = (SavedValue("other"),)
            case "flow":
                build.statistics[op] = statistics(np.ones(2))
                build.details[node] = "0 + 1"
        return build.graph()

    known = {quick_key(graph(each)) for each in ("", "cut", "result", "call", "module", "saved")}
    assert len(known) == 6
    assert quick_key(graph("flow")) == quick_key(graph()) in known
    assert structure_of(graph("flow")) == structure_of(graph())


def call(index: int) -> CallFacts:
    return CallFacts(index, "backward", index, None, "leaves")


def test_a_run_says_which_calls_there_are() -> None:
    run = MemoryRun(Header())
    with pytest.raises(NotRecorded, match="call 3 was not recorded; there are none"):
        run.call(3)
    for index in (1, 2, 5):
        run.add_ended(call(index), [LeafFacts(0, None, None)], None)
    with pytest.raises(NotRecorded, match="there are 1, 2, 5"):
        run.call(3)
    assert [index for index, _ in run.over_calls(0)] == [1, 2, 5]
    for first in (1, 981):  # the newest ones, as a flight recorder keeps them
        newest = MemoryRun(Header())
        for index in range(first, first + 20):
            newest.add_ended(call(index), (), None)
        with pytest.raises(NotRecorded, match=f"there are {first} to {first + 19}$"):
            newest.call(5000)
    with pytest.raises(NotRecorded, match="only the loss and the leaves were recorded"):
        graph_of(run, 5)


def test_of_leaves_that_take_too_much_it_is_unknown_how_far_they_moved() -> None:
    watch = LeafWatch(Mock(), room=100)
    leaves = {name: torch.ones(20, requires_grad=True) for name in ("last", "first")}

    def moved() -> list[float | None]:  # of the leaf that was used last, and the other
        loss = sum(leaf.sum() for leaf in leaves.values())
        engine = engine_of([loss])
        assert engine.running is not None
        call = engine.running.call(loss, None, None, False)
        return [*watch.before(engine, call, lambda: Names(leaves)).moved]

    assert moved() == [None, None]
    with torch.no_grad():
        leaves["first"].add_(1)
    assert moved() == [pytest.approx(20**0.5), None]
    del leaves["first"]  # and with it its copy
    assert moved() == [None]
    assert moved() == [0]


def chosen(schedule: Schedule, calls: int, cost: float) -> tuple[list[int], list[int], float]:
    """The calls that stay in full, those that passed, and what the run took for each second."""
    account, full, passing, spent = Account(schedule), [], [], 0.0
    for number in range(1, calls + 1):
        wanted = account.wanted(number)
        if wanted.level == "stats":
            (passing if wanted.passing else full).append(number)
        seconds = {"call": 0.0, "leaves": 0.1 * cost, "stats": cost}[wanted.level]
        account.spent(wanted.level, seconds)
        account.ran(1.0)
        spent += seconds
    return full, passing, 1 + spent / calls


@pytest.mark.parametrize("cost", [0.01, 1.0, 20.0])
def test_watching_takes_no_more_than_asked(cost: float) -> None:
    full, passing, ratio = chosen(Schedule(budget=1.3), 4096, cost)
    required = [*range(1, 6), *(2**power for power in range(3, 13))]
    assert full == required
    assert ratio <= 1.3 + len(required) * cost / 4096
    if cost < 1:
        assert passing == sorted(set(range(1, 4097)) - set(required))
    else:
        assert len(passing) < 1300


def test_leaves_are_described_in_rows_up_to_the_end_of_a_run() -> None:
    account, described = Account(Schedule(last=False)), []
    for number in range(1, 4001):
        described += [number] if account.wanted_leaves() == "leaves" else []
        account.spent(account.wanted_leaves(), 1.0)
        account.ran(0.1)  # there is never time for it
    assert described[:32] == [*range(1, 33)]
    assert 33 not in described
    assert described[-1] > 4000 - 4000 // 7
    rows = [number for number in described if number - 1 not in described]
    assert all({start + 1, start + 2, start + 3} <= {*described} for start in rows[1:-1])
    assert len(described) < 32 + 4 * 36


def test_what_happened_in_calls_that_nobody_described_is_none_of_the_next_one() -> None:
    run = MemoryRun(Header())
    run.add_leaf(Leaf(0, "w", (2, 2), "float32", True))
    for index in (1, 2, 3, 4, 7, 8):
        facts = call(index)._replace(level="call" if index == 4 else "leaves")
        came = LeafFacts(0, None, None, None, None, 1.0, 0.5, "opt", None, True)
        run.add_ended(facts, [] if index == 4 else [came], None)
    (history,) = histories(run)
    assert [seen.moved for seen in history.seen] == [0.5, 0.5, 0.5, None, 0.5]
    assert [(a.call.index, b.call.index) for a, b in history.pairs] == [(1, 2), (2, 3), (7, 8)]
    assert [c.index for _, calls in lines_of(run, leaves=True) for c in calls] == [1, 2, 3, 7, 8]


def test_what_traced_steps_take_longer_than_others_is_spent() -> None:
    account, took, traced = Account(Schedule(budget=1.5)), 0.0, True
    for number in range(1, 1001):
        step, look = 3.5 if traced else 1.0, 0.2 if traced else 0.01
        account.ran(step, traced=traced)
        account.spent("stats" if traced else "call", look)
        took += step + look
        traced = account.wanted(number + 1).level == "stats"
    required = 12
    assert 1.45 < took / 1000 < 1.5 + required * 2.7 / 1000


def test_without_a_bound_every_call_is_in_full_for_a_while() -> None:
    full, passing, _ = chosen(Schedule(budget=None), 100, 50.0)
    assert len(full) + len(passing) == 100


def test_what_is_asked_for_is_kept_and_nothing_else() -> None:
    asked = Schedule(requests=lambda number, kind: number == 7, last=False)
    assert chosen(asked, 50, 1.0)[:2] == ([7], [])
    assert chosen(replace(asked, requests=None, every=20), 50, 1.0)[:2] == ([20, 40], [])
    assert chosen(replace(asked, full="leaves"), 50, 1.0)[:2] == ([], [])


def test_no_call_beyond_those_required_is_in_full_where_watching_takes_longer_than_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for clock in ("perf_counter", "process_time"):  # each look at one is a second later
        monkeypatch.setattr(f"gradstep.recording.watcher.{clock}", partial(next, count()))
    x = torch.ones(2, requires_grad=True)
    with recording(tmp_path / "run.gsr", Schedule()) as (run, _):
        for _ in range(20):
            x.exp().sum().backward()
    assert list(run.full) == [*range(1, 6), 8, 16]
    assert [call.index for call in run.calls() if call.seconds != 1] == []


@pytest.mark.torch
def test_a_leaf_whose_memory_is_freed_for_a_while_is_told_of(tmp_path: Path) -> None:
    """As FSDP frees parameters between calls."""
    torch = pytest.importorskip("torch")
    w = torch.ones(3, requires_grad=True)
    with recording(tmp_path / "run.gsr", Schedule()) as (run, _):
        for step, size in enumerate((0, 12, 12, 0, 12)):
            loss = (w * 2).sum()
            w.untyped_storage().resize_(size)
            loss.backward()
            w.untyped_storage().resize_(12)
            w.data.fill_(2.0 * step)
    facts = [facts for _, facts in run.over_calls(0)]
    assert [each.update_rms for each in facts] == [None, None, pytest.approx(2.0), None, None]
    assert [each.parameter_rms is None for each in facts] == [True, False, False, True, False]
