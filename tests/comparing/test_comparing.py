"""Where two runs first differ: random programs, of which one is changed in one place."""

from __future__ import annotations

import linecache
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.comparing import report
from gradstep.comparing.align import align, common
from gradstep.comparing.ranks import compare_ranks
from gradstep.comparing.runs import Comparison, compare, run_of_graph
from gradstep.comparing.values import Tolerance, Value, gap
from gradstep.console.session import Session
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.serialize import from_json, to_json
from gradstep.program.calls import CallSelector, intercepting
from gradstep.recording.facts import Header, Level
from gradstep.recording.recorder import Recorder
from gradstep.recording.run import MemoryRun, graph_of
from gradstep.recording.schedule import Schedule
from gradstep_tui.commands.diff import session_beside
from gradstep_tui.errors import Failure
from tests.viz.runs import run_of

EVERY = CallSelector(None, ("backward", "grad"))
OPS = ("sin", "tanh", "sigmoid", "exp", "mul", "add")
FIRST = 3
"""The line of the first op of a program."""
TOLERANCES = [Tolerance("bitwise"), Tolerance("ulp", 4), Tolerance()]


def program(ops: list[str], dtype: str = "float32") -> list[str]:
    """The lines of a program: each op in a line, ``mul`` and ``add`` with a leaf of their own."""
    leaves = [f"w{at} = leaf({1 + at / 8}, {dtype!r})" for at in range(len(ops))]
    lines = [
        f"h = h.{op}(w{at})" if op in ("mul", "add") else f"h = h.{op}()"
        for at, op in enumerate(ops)
    ]
    return ["; ".join(leaves), f"h = x = leaf(0.5, {dtype!r})", *lines, "h.sum().backward()"]


def record(torch: ModuleType, lines: list[str], level: Level = "all") -> MemoryRun:
    """Run a program, and record its calls in memory."""
    text = "\n".join(lines)
    linecache.cache["program.py"] = (len(text), None, [f"{line}\n" for line in lines], "program.py")

    def leaf(number: float, dtype: str) -> object:
        numbers = np.linspace(0.1, number, 5).astype(dtype)
        return torch.tensor(numbers.tolist(), dtype=getattr(torch, dtype), requires_grad=True)

    run = MemoryRun(Header(("program.py",)))
    schedule = Schedule("stats" if level == "leaves" else level, budget=None)
    if level == "leaves":
        schedule = replace(schedule, full="leaves")
    watcher = Recorder(run, run.header, schedule)
    with intercepting(
        lambda found: False,
        EVERY,
        values=True if level == "all" else "core",
        look=watcher,
        defers=True,
        lines=True,
    ) as calls:
        watcher.counts = calls.counts
        exec(compile(text, "program.py", "exec"), {"__name__": "__main__", "leaf": leaf})
    watcher.end()
    return run


def first_line(comparison: Comparison) -> int | None:
    first = comparison.first
    return None if first is None or first.source is None else first.source.line


programs = st.lists(st.sampled_from(OPS), min_size=2, max_size=6)


@settings(max_examples=6, deadline=None)
@given(ops=programs, data=st.data())
def check_programs(torch: ModuleType, ops: list[str], data: st.DataObject) -> None:
    lines = program(ops)
    run = record(torch, lines)
    for tolerance in TOLERANCES:
        same = compare(run, record(torch, lines), tolerance)
        assert same.is_equal
        assert same.same == same.values > len(ops)
        assert same.first_bit is None
    at = data.draw(st.integers(0, len(ops) - 1))
    line = FIRST + at
    change = data.draw(st.sampled_from(["number", "op", "dtype", "order", "more"]))
    there = list(lines)
    if change == "number":
        check_number(torch, lines, at)
        return
    if change == "op":
        there[line - 1] = "h = h.cos()"
    elif change == "dtype":
        there[line - 1] += ".double()"
    elif change == "more":
        there[line - 1] += ".cos()"
    elif ops[at] in ("mul", "add") or at + 1 == len(ops) or ops[at] == ops[at + 1]:
        return
    else:
        there[line - 1], there[line] = there[line], there[line - 1]
    comparison = compare(run, record(torch, there), Tolerance("bitwise"))
    assert not comparison.is_equal
    places = [source.line for source in comparison.structures[0].sources if source is not None]
    assert line in places or (change == "order" and line + 1 in places), comparison.structures


def check_number(torch: ModuleType, lines: list[str], at: int) -> None:
    """See that one changed number of a leaf is found at that leaf."""
    there = [lines[0].replace(f"w{at} = leaf({1 + at / 8}", f"w{at} = leaf({1.001 + at / 8}")]
    other = record(torch, [*there, *lines[1:]])
    run = record(torch, lines)
    is_used = f"(w{at})" in lines[FIRST + at - 1]
    for tolerance in TOLERANCES:
        comparison = compare(run, other, tolerance)
        assert comparison.is_equal is not is_used
        if is_used:
            assert comparison.first is not None
            assert comparison.first.what == f"w{at}"
            assert comparison.first.is_certain
            assert comparison.first.leaves


def test_a_program_that_is_changed_in_one_place_differs_there(torch: ModuleType) -> None:
    check_programs(torch)


@pytest.mark.parametrize("level", ["stats", "leaves"])
def test_what_is_only_described_differs_here_or_earlier(torch: ModuleType, level: Level) -> None:
    lines = program(["sin", "mul", "tanh"])
    there = [*lines[:3], "h = h.mul(w1 * 1.001)" if level == "leaves" else lines[3], *lines[4:]]
    there[0] = lines[0].replace("w1 = leaf(1.125", "w1 = leaf(1.126")
    comparison = compare(record(torch, lines, level), record(torch, there, level), Tolerance())
    first = comparison.first
    assert first is not None
    assert not first.is_certain
    assert first.what == ("w1" if level == "stats" else "the size of w1")
    said = report.text(comparison, ("a", "b"), Path())
    assert "first difference, here or earlier: " in said
    assert "gradstep record --call 1 --values all program.py" in said
    assert ("(record --values all keeps them)" in said) is bool(comparison.described)
    comparison = compare(record(torch, lines), record(torch, there), Tolerance())
    comparison.described = 1  # such as what an op in place has overwritten
    assert "keeps them" not in report.text(comparison, ("a", "b"), Path())


def test_a_gradient_that_differs_alone_is_named_with_its_inputs(torch: ModuleType) -> None:
    """One number of one gradient is changed in the recording: what nondeterminism does."""
    lines = program(["sin", "mul", "tanh"])
    run, other = record(torch, lines), record(torch, lines)
    flow, graph = other.flow(1), graph_of(other, 1)
    assert flow is not None
    edge = next(
        edge
        for edge in range(graph.edge_count)
        if graph.edge_kinds[edge] == "gradient"
        and graph.stem(graph.edge_sources[edge]) == "mul"
        and graph.kinds[graph.edge_targets[edge]] == "op"
    )
    wanted, arrays = flow.edges[edge], flow.values.array

    def array(number: int, /) -> object:
        known = arrays(number)
        if number != wanted:
            return known
        assert known is not None
        return np.nextafter(known, known.dtype.type(9))

    values = replace(flow.values, array=array)  # type: ignore[arg-type]
    other.add_flow(other.call(1), replace(flow, values=values))
    assert compare(run, other, Tolerance("ulp", 2)).is_equal
    within = compare(run, other, Tolerance())
    assert within.is_equal
    assert within.first_bit is not None
    comparison = compare(run, other, Tolerance("bitwise"))
    first = comparison.first
    assert first is not None
    assert first.what == "the gradient that mul:1 sends to sin:1"
    assert first_line(comparison) == 4
    assert first.gap.ulps == 1
    assert [each.address for each in first.inputs][:1] == ["the gradient at mul:1"]
    assert "equal within what the dtype allows" in report.text(within, ("a", "b"), Path())


def test_two_passes_are_stepped_together(torch: ModuleType) -> None:
    lines = program(["sin", "mul", "tanh", "exp"])
    there = [*lines[:2], "h = h.sin().cos()", lines[3].replace("w1", "(w1 * 1)"), *lines[4:]]
    runs = record(torch, lines), record(torch, there)
    session = session_beside(("a", "b"), compare(*runs, Tolerance()), runs)
    assert session.beside is not None
    other = session.beside.session
    stems = []
    for _ in range(session.length):
        here, its = session.position, other.position
        stems.append((session.graph.address(here), other.graph.address(its)))
        session.next()
    assert other.position == other.length
    assert stems[:4] == [(each, each) for each in ("sum:1", "exp:1", "tanh:1", "mul:1")]
    assert ("sin:1", "sin:1") in stems
    session.restart()
    assert other.position == 0
    reply = session.do("next difference")
    assert not reply.error
    first = session.position
    assert session.beside.differs(first)
    assert reply.text.startswith(session.beside.text(first))
    session.do("next difference")
    assert session.position > first
    session.do("reverse-next diff")
    assert session.position == first
    session.jump(session.length)
    assert "no difference after this" in session.reply("next difference").text
    session.abort()
    graph = run_of_graph(graph_of(runs[0], 1))
    with pytest.raises(Failure, match="c is a graph, in which nothing runs"):
        session_beside(("c", "b"), compare(graph, runs[1], Tolerance()), (graph, runs[1]))
    alone = Session(torch.ones(1, requires_grad=True).sin().sum())
    assert "there is no other pass" in alone.reply("next difference").text
    alone.abort()


def test_a_graph_in_a_file_is_compared_as_a_run(torch: ModuleType) -> None:
    run = record(torch, program(["sin", "mul"]))
    graph = graph_of(run, 1)
    stored = run_of_graph(from_json(to_json(graph)))
    assert compare(run_of_graph(graph), stored, Tolerance("bitwise")).is_equal
    other = run_of_graph(graph_of(record(torch, program(["sin", "add"])), 1))
    comparison = compare(stored, other, Tolerance())
    assert comparison.structures[0].addresses == ("mul:1", "add:1")
    assert '"op mul → add"' in report.json_text(comparison, ("a", "b"), Path())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=30), st.lists(st.integers(0, 3), max_size=30))
def test_a_common_subsequence_is_one_and_as_long_as_any(one: list[int], other: list[int]) -> None:
    pairs = common(one, other)
    assert all(one[x] == other[y] for x, y in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    longest = np.zeros((len(one) + 1, len(other) + 1), int)
    for x, mine in enumerate(one):
        for y, its in enumerate(other):
            longest[x + 1, y + 1] = (
                longest[x, y] + 1 if mine == its else max(longest[x, y + 1], longest[x + 1, y])
            )
    assert len(pairs) == longest[-1, -1]


def test_more_edits_than_are_looked_for_together_leave_a_common_subsequence() -> None:
    one, other = [*range(1000), *range(5000, 5100)], [*range(2000, 3000), *range(5000, 5100)]
    assert common(one, other)[-1] == (1099, 1099)
    assert len(common(one, other)) == 100


@pytest.mark.torch
def test_the_core_and_pytorch_do_the_same() -> None:
    """A graph of PyTorch has no ops that no gradient reaches."""
    lines = program(["sin", "mul", "tanh", "exp"])
    lines[-1] = "c = (h.detach() * 0 + 2).exp(); (h * c).sum().backward()"
    runs = [record(import_module(name), lines) for name in ("autograd_core", "torch")]
    for one, other in (runs, runs[::-1]):
        comparison = compare(one, other, Tolerance("relative", 1e-6))
        assert comparison.is_equal, report.text(comparison, ("one", "other"), Path())
        assert comparison.values > 10


def test_the_coarser_dtype_of_a_leaf_says_what_may_differ(torch: ModuleType) -> None:
    lines = program(["sin", "mul"])
    there = program(["sin", "mul"], "float16")
    comparison = compare(record(torch, lines), record(torch, there), Tolerance())
    assert comparison.first is None, comparison.first
    assert any("dtype float32 → float16" in each.details for each in comparison.structures)


def test_a_module_that_was_renamed_keeps_its_nodes() -> None:
    def graph(scope: str, *ops: str) -> GraphBuilder:
        build = GraphBuilder()
        for op in ops:
            build.node("op", "forward", op, scope=scope)
        return build

    one, other = graph("fc1", "t", "addmm").graph(), graph("head", "t", "gelu", "addmm").graph()
    assert align(one, other).partners.tolist() == [0, 2]


def test_numbers_that_are_not_finite_are_equal_only_to_themselves() -> None:
    def value(*numbers: float) -> Value:
        return Value(None, (len(numbers),), "float32", np.array(numbers, np.float32))

    nan, inf = float("nan"), float("inf")
    assert gap(value(nan, 1), value(nan, 1)).is_same
    assert gap(value(nan, 1), value(nan, 2)).relative < 1
    for one, other in [((nan, 1), (1, nan)), ((inf, 1), (-inf, 1)), ((nan,), (1,))]:
        assert gap(value(*one), value(*other)).relative == inf


def rank(run: MemoryRun, number: int) -> MemoryRun:
    run.header = replace(run.header, rank=number, size=3)
    call = run.call(1)
    run.add_begun(call._replace(seconds=1.0 if call.is_finished else 9.0))
    return run


def test_ranks_that_do_otherwise_are_named(torch: ModuleType) -> None:
    lines = program(["sin", "mul"])
    others = [rank(record(torch, lines), number) for number in (0, 1)]
    assert compare_ranks(others) == []
    drifted = lines[0].replace("w1 = leaf(1.125", "w1 = leaf(1.25")
    said = compare_ranks([*others, rank(record(torch, [drifted, *lines[1:]]), 2)])
    assert [str(each) for each in said] == [
        "rank 2: backward() call 1: w1 is not that of other ranks",
        "rank 2: backward() call 1: x.grad is not that of other ranks after the call",
    ]
    unused = record(torch, [*lines[:3], *lines[4:]])
    said = compare_ranks([*others, rank(unused, 2)])
    assert "its graph is not that of rank 0: removed w1 (2 differences)" in str(said[0])
    sick = record(torch, [*lines[:3], "h = (h - 5).log()", *lines[3:]])
    said = compare_ranks([*others, rank(sick, 2)])
    assert str(said[0]).startswith("rank 2: backward() call 1: nan in the result of log:1, ")
    hangs = record(torch, lines)
    hangs.add_begun(hangs.call(1)._replace(is_finished=False, seconds=9.0))
    ended, slow = compare_ranks([*others, rank(hangs, 2)])
    assert (ended.what, ended.ranks) == ("it never ended", (2,))
    assert slow.what == (
        "its calls take 9.0 times the median of the others, most at backward() call 1, program.py:5"
    )


def test_ranks_that_made_no_call_are_named(torch: ModuleType) -> None:
    lines = program(["sin"])
    runs = [MemoryRun(replace(record(torch, lines).header, rank=number)) for number in (0, 1)]
    assert [str(finding) for finding in compare_ranks(runs)] == [
        "ranks 0, 1: made no call of backward() or autograd.grad()"
    ]


@pytest.mark.parametrize(("far", "told"), [(50.0, True), (5.0, False)])
def test_a_loss_far_from_those_of_other_ranks_is_told(far: float, told: bool) -> None:
    def losses(rank: int) -> MemoryRun:
        def loss(call: int) -> float:
            return far if rank and call >= 8 else 0.7

        run = run_of(["w"], 12, lambda leaf, call: [1.0], loss=loss)
        run.header = replace(run.header, rank=rank, size=2)
        return run

    assert [str(finding) for finding in compare_ranks([losses(0), losses(1)])] == [
        "rank 1: backward() call 8: its loss is 50, and 0.7 on other ranks"
    ] * told
    assert compare_ranks([losses(1), replace_rank(losses(1), 0)]) == []  # on all of them


def replace_rank(run: MemoryRun, rank: int) -> MemoryRun:
    run.header = replace(run.header, rank=rank)
    return run
