"""Folding: what fits a screen says the same as the whole graph."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePath
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_core as torch
from autograd_core import nn
from gradstep import capture, scope, trace
from gradstep.capturing import Names
from gradstep.capturing.roots import backward_call
from gradstep.debugger.history.observed_pass import ObservedPass
from gradstep.graph import statistics_table
from gradstep.graph.addresses import find_nodes, find_step
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.errors import UnknownAddress
from gradstep.graph.folding import Folding, fold, neighbourhood, part_between
from gradstep.graph.folding.periods import periodic_stretches
from gradstep.graph.folding.totals import saved_bytes, saved_bytes_by, totals
from gradstep.graph.model import Call, Graph, Half, SavedValue, Source, View
from gradstep.graph.serialize import from_json, to_json
from gradstep.graph.statistics import statistics
from tests.viz import sample_graphs
from tests.viz.sample_graphs import Twin


def groups(graph: Graph, half: str = "forward") -> list[str]:
    """What the groups of a half are called, with their count."""
    return [
        f"{group.title} × {group.instances}" if group.instances > 1 else group.title
        for id, group in graph.groups.items()
        if graph.halves[id] == half and group.kind != "chain"
    ]


def loop(rounds: int, shared: bool = True) -> Graph:
    """h = tanh(mm(h, w) + x·sigmoid(h)), again and again."""
    t = Twin("loop")
    h, w, x = t.leaf("h", (2,), "leaf"), t.leaf("w", (2, 2)), t.leaf("x", (2,), "constant")
    for number in range(rounds):
        w = w if shared else t.leaf(f"cells.{number}.w", (2, 2))
        gate = t.op("sigmoid", h, shape=(2,))
        total = t.op("add", t.op("mm", h, w, shape=(2,), keep=(h, w)), gate, shape=(2,))
        h = t.op("tanh", t.op("mul", total, x, shape=(2,), keep=(total, x)), shape=(2,))
    return t.finish(t.op("sum", h))


def test_shape_ops_join_the_op_that_they_serve() -> None:
    graph = fold(sample_graphs.mlp())
    names = [node.name for node in graph.nodes() if node.kind == "op" and node.half == "forward"]
    assert names == ["addmm", "relu", "addmm", "log_softmax", "nll_loss"]
    chain = next(node for node in graph.nodes() if node.name == "addmm")
    assert chain.group is not None
    assert (chain.group.kind, chain.group.title, chain.group.ops) == ("chain", "t", 2)
    weight = next(edge for edge in graph.edges() if graph.names[edge.source] == "fc1.weight")
    assert (graph.names[weight.target], weight.input_nr) == ("addmm", 2)


def test_repeated_scopes_fold_to_one_instance_and_a_card() -> None:
    graph = fold(sample_graphs.residual(40))
    assert groups(graph) == groups(graph, "backward") == ["blocks.1 … 39 × 39"]
    forward = [node for node in graph.nodes() if node.half == "forward"]
    scopes = Counter(node.scope for node in forward if node.kind == "op")
    assert scopes == {"blocks.0": 4, "": 1}
    card = next(node for node in graph.nodes() if node.kind == "group")
    assert card.group is not None
    assert card.group.ops == 39 * 4
    assert card.group.parameters == 39 * 2 * 16 * 16
    assert card.group.like == "blocks.0"


def test_few_repeats_are_all_drawn_each_in_its_frame() -> None:
    graph = sample_graphs.residual(5)
    whole = fold(graph)
    assert whole == graph
    assert sorted(frame.label for frame in whole.frames) == [f"blocks.{n}" for n in range(5)]


def test_a_module_that_ran_twice_has_a_frame_for_each_time_and_one_for_its_parameters() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.Sequential(
                *(nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(3))
            )

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.blocks(x)
            return self.blocks((x.exp() + 1).log() * x.sigmoid())

    net = Twice()
    with trace():
        loss = net(torch.ones(2, 4)).sum()
    whole = fold(capture(loss))
    framed = [frame.members for frame in whole.frames if frame.label == "blocks.0"]
    assert [sorted({whole.address(id) for id in members}) for members in framed] == [
        ["blocks.0.0/addmm:1", "blocks.0.1/tanh:1"],
        ["blocks.0.0/addmm:2", "blocks.0.1/tanh:2"],
        ["blocks.0.0.bias", "blocks.0.0.weight"],
    ]


def test_an_instance_opens_by_its_name() -> None:
    graph = fold(sample_graphs.residual(40), expand=["blocks.3"])
    assert groups(graph) == ["blocks.0 … 2 × 3", "blocks.4 … 39 × 36"]
    assert any(node.address == "blocks.3/relu:1" for node in graph.nodes())
    with pytest.raises(UnknownAddress, match=r"'blocks\.40'; did you mean blocks\."):
        fold(sample_graphs.residual(40), expand=["blocks.40"])


def test_a_loop_shows_its_first_two_rounds_and_its_last() -> None:
    graph = fold(loop(100))
    assert groups(graph) == ["t = 1", "t = 2 … 98 × 97", "t = 99"]
    assert groups(fold(loop(100), expand=["t=50"])) == [
        "t = 0", "t = 1", "t = 2 … 49 × 48", "t = 51 … 98 × 48", "t = 99",
    ]  # fmt: skip
    uses = sum(edge.multiplicity for edge in graph.edges() if graph.names[edge.source] == "w")
    assert uses == 200  # 100 values, and 100 that are saved


def test_a_round_of_one_of_several_loops_opens_by_its_module_and_its_name() -> None:
    class Cell(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(2, 2))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for t in range(20):
                x = torch.tanh(x @ self.w * t)
            return x

    class Cells(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = Cell(), Cell()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.b(self.a(x).exp())

    net = Cells()
    with trace():
        loss = net(torch.ones(1, 2)).sum()
    graph = capture(loss)
    opened = [
        groups(fold(graph, expand=[name])).count("t = 2 … 4 × 3") for name in ("b/t=5", "t=5")
    ]
    assert opened == [1, 2]


def test_rounds_are_named_after_the_module_whose_parameters_they_use() -> None:
    graph = loop(100, shared=False)
    assert not any(graph.scopes)
    assert groups(fold(graph)) == ["cells.1 … 99 × 99"]


def fan(kinds: Sequence[str]) -> Graph:
    """Ops of these kinds, each on a leaf of its own, and all of them into one stack."""
    t = Twin("fan")
    ends = [
        t.op(kind, t.leaf(f"w{number}", (3,), "leaf"), shape=(3,))
        for number, kind in enumerate(kinds)
    ]
    return t.finish(t.op("sum", t.op("stack", *ends, shape=(len(ends), 3))))


def test_siblings_that_read_nothing_of_each_other_are_no_loop() -> None:
    graph = fan(["sin"] * 3000)
    assert groups(fold(graph)) == ["sin:2 … 3000 × 2999"]
    assert groups(fold(graph, expand=["sin:9"])) == ["sin:1 … 8 × 8", "sin:10 … 3000 × 2991"]


def test_siblings_of_several_kinds_fold_in_whatever_order_they_ran() -> None:
    kinds = np.random.default_rng(0).choice(["sin", "exp"], 400).tolist()
    graph = fold(fan(kinds))
    assert {name.partition(":")[0] for name in groups(graph)} == {"sin", "exp"}
    assert len(graph) < 60
    total = sum(group.ops for id, group in graph.groups.items() if graph.halves[id] == "forward")
    assert total == 398


def test_a_loop_begins_where_the_fewest_values_are_handed_on() -> None:
    t = Twin("loop after a tanh")
    h = t.op("tanh", t.leaf("h", (2,), "leaf"), shape=(2,))  # as each round ends
    for _ in range(50):
        gate = t.op("sigmoid", h, shape=(2,))
        h = t.op("tanh", t.op("mul", h, gate, shape=(2,)), shape=(2,))
    graph = fold(t.finish(t.op("sum", h)))
    assert groups(graph) == ["t = 1", "t = 2 … 48 × 47", "t = 49"]
    first = next(node for node in graph.nodes() if node.name == "tanh")
    assert graph.groups.get(first.id) is None


def stages(start: torch.Tensor) -> Graph:
    """Ten steps of four stages each, at lines of their own, which look alike; all results are
    used."""
    rate = torch.full((2,), 0.1, requires_grad=True)
    seen = [y := start]
    with trace():
        for _ in range(10):
            k1 = torch.sin(y**3) * rate
            k2 = torch.sin((y + 0.5 * k1) ** 3)
            k3 = torch.sin((y + 0.5 * k2) ** 3)
            k4 = torch.sin((y + 1.0 * k3) ** 3)
            y = y + 0.1 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            seen.append(y)
        loss = torch.stack(seen).sum()
    return capture(loss, names=Names({"rate": rate, "start": start}))


def test_stages_at_different_lines_are_no_rounds_of_a_loop() -> None:
    rounds = ["round 1", "round 2", "round 3 … 9 × 7", "round 10"]
    graph = fold(stages(torch.tensor([2.0, 1.0])), max_boxes=20)
    assert groups(graph) == rounds


def test_a_first_round_that_lacks_its_beginning_is_a_round() -> None:
    whole = stages(torch.tensor([2.0, 1.0]))  # the first op of which has no gradient
    backward = [node for node in whole.nodes() if node.half == "backward"]
    assert [node.name for node in backward].count("PowBackward0") == 39
    graph = fold(whole, ("backward",), max_boxes=16)
    assert groups(graph, "backward") == [
        "round 10", "round 4 … 9 × 6", "round 3", "round 2", "round 1",
    ]  # fmt: skip


def solver() -> Graph:
    """Steps of which some do more, as where a solver's results are asked for."""
    rate = torch.full((2,), 0.1, requires_grad=True)
    y, seen = torch.tensor([2.0, 1.0]), []
    with trace():
        for step in range(16):
            k = torch.sin(y**3) * rate
            k = torch.exp(k) * torch.cos(k) + torch.tanh(k)
            y = y + torch.sigmoid(k).sqrt() * 0.1
            if step in (1, 2, 5, 7, 8, 11, 12):
                middle = y * k
                seen.append(torch.log(middle.abs() + 1.0))
        loss = torch.stack(seen).sum() + y.sum()
    return capture(loss, names=Names({"rate": rate}))


def test_a_loop_that_does_more_in_some_rounds_folds_into_its_rounds() -> None:
    graph = solver()
    assert groups(fold(graph, max_boxes=14)) == ["step = 0 … 15"]
    assert groups(fold(graph, max_boxes=30)) == [
        "step = 0", "step = 1 … 2 × 2", "step = 3 … 4 × 2", "step = 5", "step = 6",
        "step = 7 … 8 × 2", "step = 9 … 10 × 2", "step = 11 … 12 × 2", "step = 13",
        "step = 14 … 15 × 2",
    ]  # fmt: skip


def test_scopes_close_down_to_a_depth() -> None:
    with trace():
        x = torch.randn(3, requires_grad=True)
        h = x
        for name in ("encoder", "decoder"):
            with scope(name), scope("inner"):
                h = (h.sin() * h).tanh()
            with scope(name):
                h = h + x.exp()
        loss = h.sum()
    graph = capture(loss, names={"x": x, "loss": loss})
    assert groups(fold(graph, depth=1)) == ["encoder", "decoder"]
    assert groups(fold(graph, depth=2)) == ["encoder.inner", "decoder.inner"]
    assert groups(fold(graph, depth=3)) == []


def test_modules_say_their_class() -> None:
    model = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.ReLU()), nn.Linear(4, 1))
    with trace():
        loss = model(torch.randn(2, 4)).sum()
    graph = fold(capture(loss, names={"model": model, "loss": loss}), depth=1)
    first = next(node.group for node in graph.nodes() if node.kind == "group")
    assert first is not None
    assert (first.title, first.module, first.parameters) == ("0", "Sequential", 20)


def irregular(ops: int) -> Graph:
    """Ops in no order, each of which reads some of the last twelve."""
    rng = np.random.default_rng(7)
    t = Twin("irregular")
    pool = [t.leaf(f"x{n}", (3,), "leaf") for n in range(4)]
    names = ["sin", "exp", "tanh", "neg", "mul", "add"]
    for _ in range(ops):
        name = names[rng.integers(len(names))]
        inputs = rng.choice(pool[-12:], 2 if name in ("mul", "add") else 1, replace=False)
        pool.append(t.op(name, *map(int, inputs), shape=(3,), keep=()))
    return t.finish(pool[-1])


def test_an_irregular_graph_of_a_few_ops_stays_whole() -> None:
    graph = irregular(30)
    assert fold(graph) is graph


@pytest.mark.parametrize("ops", [31, 61, 300, 3000])
def test_an_irregular_graph_folds_into_bands_of_what_ran_together(ops: int) -> None:
    graph = irregular(ops)
    folded = fold(graph, max_boxes=40)
    assert len([id for id, kind in enumerate(folded.kinds) if kind in ("op", "group")]) <= 40
    bands = [group for group in folded.groups.values() if group.kind == "band"]
    assert bands
    assert folded.unfolded == totals(graph)
    assert acyclic(folded, "value")
    assert acyclic(folded, "gradient")


def test_a_band_of_several_modules_bears_their_names() -> None:
    rng, t = np.random.default_rng(7), Twin("stages")
    x = t.leaf("x", (3,), "leaf")
    for stage in range(150):
        for name in rng.choice(["sin", "exp", "tanh", "neg"], 3 + stage % 4):
            x = t.op(str(name), x, shape=(3,), keep=(), scope=f"stage{stage}")
    titles = groups(fold(t.finish(x), max_boxes=20))
    assert titles[0].startswith("stage0 … stage")
    assert all(one.startswith("stage") for one in titles)


def prepared(samples: int) -> Graph:
    """Samples that are scaled, stacked, and go into one op with a weight."""
    weight = torch.ones(3, requires_grad=True)
    with trace():
        rows = [(torch.ones(3) - 0.1) / 0.3 for _ in range(samples)]
        loss = (torch.stack(rows) * weight).sum()
    return capture(loss, names=Names({"weight": weight}))


def test_what_prepares_data_is_one_box() -> None:
    graph = prepared(16)
    both: Sequence[Half] = ("forward", "backward")
    end = " … stack:1"
    for halves in (both, both[:1]):
        folded = fold(graph, halves, max_boxes=400)
        (data,) = [group for group in folded.groups.values() if group.kind == "data"]
        assert (data.ops, data.title[-len(end) :]) == (33, end)
        names = [node.name for node in folded.nodes() if node.kind == "op"]
        assert {"mul", "sum"} <= set(names)
        assert not {"sub", "div", "stack"} & set(names)
    opened = fold(graph, max_boxes=400, expand=(data.title,))
    assert "data" not in {group.kind for group in opened.groups.values()}


def test_a_few_ops_without_a_gradient_are_drawn_one_by_one() -> None:
    assert fold(prepared(1), max_boxes=400).groups == {}


def test_a_band_opens_by_its_name() -> None:
    folding = Folding(irregular(300))
    first = groups(folding.fold(40))[0]
    start, _, end = first.partition(" … ")
    assert find_nodes(folding.graph, start)
    assert find_nodes(folding.graph, end)
    assert first not in groups(folding.fold(40, expand=(first,)))


def test_a_band_begins_where_few_values_are_needed() -> None:
    rng = np.random.default_rng(3)
    t = Twin("knots")
    x = t.leaf("x", (3,), "leaf")
    for _ in range(20):
        parts = [t.op(name, x, shape=(3,), keep=()) for name in ("sin", "exp", "neg", "cos")]
        for _ in range(3):
            parts[0] = t.op(str(rng.choice(["mul", "add", "sub"])), *parts[:2], keep=())
        x = t.op("cat", *parts, shape=(3,), keep=())
    graph = fold(t.finish(x), ("forward",), max_boxes=12)
    assert all("cat" in title.partition(" … ")[2] for title in groups(graph)[:-1])


def test_a_band_begins_with_a_line_unless_one_line_is_longer() -> None:
    graph = irregular(300)
    ops = [node.id for node in graph.nodes() if (node.kind, node.half) == ("op", "forward")]
    number = {id: at // 5 if at < 150 else 30 for at, id in enumerate(ops)}
    sources = {id: Source("train.py", line) for id, line in number.items()}
    folded = fold(replace(graph, sources=sources), ("forward",), max_boxes=20)
    begins = [find_nodes(graph, title.partition(" … ")[0])[0] for title in groups(folded)]
    assert len(begins) > 6
    lines = [(number[before], number[id]) for before, id in pairwise(ops) if id in begins]
    assert all(before < line for before, line in lines if line < 30)
    assert (30, 30) in lines


def test_nan_inside_a_group_is_still_flagged() -> None:
    graph = sample_graphs.residual(40)
    bad = next(node for node in graph.nodes() if node.address == "blocks.30/relu:1")
    nan = statistics(np.array([np.nan, 1.0]))
    changed = (SavedValue("self", (2,), "float32", 8, "changed"),)
    graph = replace(
        graph, statistics={bad.id: nan}, saved={**graph.saved, graph.pairs[bad.id]: changed}
    )
    folded = fold(graph)
    card = next(node for node in folded.nodes() if node.kind == "group" and node.half == "forward")
    assert card.statistics is not None
    assert card.statistics.trouble == "nan"
    assert card.pair is not None
    assert [value.state for value in folded.node(card.pair).saved] == ["changed"]


def test_a_folded_graph_loads_back_equal() -> None:
    graph = fold(sample_graphs.residual(40))
    again = from_json(to_json(graph))
    assert again == graph
    assert again.unfolded == totals(sample_graphs.residual(40))


@st.composite
def programs(draw: st.DrawFn) -> Graph:
    """Ops in nested scopes, some of them repeated, reading whatever came before."""
    t = Twin("program")
    pool = [t.leaf("x", (2,), "leaf"), t.leaf("w", (2,))]
    for block in range(draw(st.integers(1, 6))):
        path = draw(st.sampled_from(["", "a", "a.b", f"layers.{block}", "c.d.e"]))
        names = draw(st.lists(st.sampled_from(["sin", "t", "mul", "view"]), min_size=1, max_size=5))
        for _ in range(draw(st.sampled_from([1, 2, 9]))):
            for name in names:
                count = 2 if name == "mul" else 1
                inputs = [
                    pool[-1 - draw(st.integers(0, min(3, len(pool) - 1)))] for _ in range(count)
                ]
                pool.append(t.op(name, *inputs, shape=(2,), scope=path, keep=inputs[:1]))
    return t.finish(pool[-1])


@given(programs(), st.integers(0, 40))
def test_folding_loses_nothing_and_makes_no_cycle(graph: Graph, budget: int) -> None:
    folded = fold(graph, max_boxes=budget)
    boxes: dict[int, int] = {}
    for node in folded.nodes():
        if node.group is not None:
            boxes |= dict.fromkeys(node.group.members, node.id)
    assert len(boxes) == sum(len(node.group.members) for node in folded.nodes() if node.group)
    plain = sum(1 for node in folded.nodes() if node.group is None)
    assert len(boxes) + plain == len(graph)
    inside = sum(boxes.get(edge.source, -1) == boxes.get(edge.target, -2) for edge in graph.edges())
    assert sum(edge.multiplicity for edge in folded.edges()) + inside == graph.edge_count
    assert totals(folded) == totals(graph)
    for half in ("value", "gradient"):
        assert acyclic(folded, half)
    for one, other in folded.pairs.items():
        mine, theirs = folded.groups.get(one), folded.groups.get(other)
        assert (mine and mine.title) == (theirs and theirs.title)
        assert folded.halves[one] != folded.halves[other]


def acyclic(graph: Graph, kind: str) -> bool:
    edges = [(e.source, e.target) for e in graph.edges() if e.kind == kind]
    missing = Counter(target for _, target in edges)
    ready = [id for id in range(len(graph)) if not missing[id]]
    done = 0
    while ready:
        id = ready.pop()
        done += 1
        for source, target in edges:
            if source == id:
                missing[target] -= 1
                if not missing[target]:
                    ready.append(target)
    return done == len(graph)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=7),
    st.integers(4, 9),
    st.lists(st.integers(4, 9), max_size=4),
    st.lists(st.integers(4, 9), max_size=4),
)
def test_every_period_is_found(
    block: list[int], rounds: int, before: list[int], after: list[int]
) -> None:
    row = [*before, *block * rounds, *after]
    for start, stop, period in periodic_stretches(row):
        assert all(row[i] == row[i + period] for i in range(start, stop - period))
    start, stop = len(before), len(before) + len(block) * rounds
    assert any(
        found <= start and stop <= end and len(block) % period == 0
        for found, end, period in periodic_stretches(row)
    )


def test_graphs_that_nest_deep_and_chains_that_are_long_fold() -> None:
    build = GraphBuilder("deep")
    last = build.node("leaf", "forward", "x", variable="x")
    for depth in range(400):
        node = build.node("op", "forward", f"op{depth % 3}", scope=".".join(["s"] * depth))
        build.edge("value", last, node)
        last = node
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 150)  # a deeper graph would take its time
    try:
        assert len(fold(build.graph(), max_boxes=20)) < 30
    finally:
        sys.setrecursionlimit(limit)
    chain = fold(sample_graphs.chain(100_000))
    assert groups(chain) == ["t = 2 … 99998 × 99997"]


def test_a_cycle_in_a_graph_from_a_file_is_left_alone() -> None:
    build = GraphBuilder("cycle")
    one, other = (build.node("op", "forward", "mul") for _ in range(2))
    build.edge("value", one, other)
    build.edge("value", other, one)
    graph = build.graph()
    assert fold(graph) is graph


def test_values_whose_memory_is_unknown_count_each() -> None:
    x = torch.randn(8, 8, requires_grad=True)
    with trace():
        loss = (x.exp() * x.sin()).sum()
    graph = capture(loss, "backward", names={"x": x})
    saved = {
        node: [value._replace(storage=None, memory=None) for value in values]
        for node, values in graph.saved.items()
    }
    kept = [value.nbytes for values in saved.values() for value in values]
    assert len(kept) > 3
    assert saved_bytes(replace(graph, saved=saved))[""] == sum(kept)


def test_what_two_nodes_keep_of_one_tensor_counts_once() -> None:
    x = torch.randn(8, 8, requires_grad=True)
    with trace():
        with scope("one"):
            y = x * x.t()
        with scope("two"):
            loss = (y * x).sum()
    size = 8 * 8 * 4
    for view in ("backward", "both"):
        graph = capture(loss, view, names={"x": x})  # type: ignore[arg-type]
        assert saved_bytes(graph)[""] == 2 * size  # x, of which x.t() is a view, and y
        by_scope = saved_bytes_by(graph, [["", "one", "two"].index(at) for at in graph.scopes])
        assert (by_scope[1], by_scope[2]) == (size, 2 * size)


@pytest.mark.parametrize("view", ["forward", "backward"])
def test_a_neighbourhood_in_one_half_goes_both_ways(view: View) -> None:
    graph = capture(torch.ones(3, requires_grad=True).exp().sin().cos().sum(), view, names={})
    near = neighbourhood(graph, find_nodes(graph, "sin:1"), 1)
    assert sorted(node.address for node in near.nodes()) == ["cos:1", "exp:1", "sin:1"]


def test_a_neighbourhood_has_the_partners_and_what_is_near() -> None:
    graph = sample_graphs.residual(10)
    center = find_nodes(graph, "blocks.5/relu:1")
    near = neighbourhood(graph, center, 1)
    assert sorted(node.address for node in near.nodes() if node.half == "forward") == [
        "blocks.5/mm:1",
        "blocks.5/mm:2",
        "blocks.5/relu:1",
    ]
    assert {near.halves[id] for id in range(len(near))} == {"forward", "backward"}
    assert near.part is not None
    assert (near.part.which, near.part.whole) == ("around blocks.5/relu:1", totals(graph))
    assert totals(near)[:2] == (3, 0)
    assert totals(fold(near)) == totals(near)
    assert from_json(to_json(near)) == near


def test_a_part_says_of_a_node_what_the_graph_says() -> None:
    build = GraphBuilder()
    build.calls += [Call("net", 1), Call("net", 2)]
    for name in ("a", "b", "c"):
        id = build.node("constant", "forward", name)
        build.cuts[id], build.results[id] = f"cut of {name}", f"result of {name}"
        build.call_of[id] = id % 2
    part = neighbourhood(build.graph(), [2], 0)
    assert (part.names, part.cuts, part.results) == (["c"], {0: "cut of c"}, {0: "result of c"})
    assert part.call_of == {0: 0}
    assert from_json(to_json(part)) == part


def test_a_path_has_only_what_lies_between() -> None:
    graph = sample_graphs.residual(10)
    between = part_between(graph, find_nodes(graph, "loss"), find_nodes(graph, "blocks.8.0.weight"))
    assert between is not None
    scopes = {scope for scope in between.scopes if scope}
    assert scopes == {"blocks.8", "blocks.9"}
    forward = [node for node in between.nodes() if node.half == "forward"]
    assert all(later.id > earlier.id for earlier, later in pairwise(forward))
    leaves = [find_nodes(graph, name) for name in ("blocks.8.0.weight", "blocks.9.0.weight")]
    assert part_between(graph, *leaves) is None


def test_nodes_go_by_address_op_scope_name_line_and_turn() -> None:
    with trace():
        x = torch.randn(3, requires_grad=True)
        with scope("part.one"):
            y = x.sin().exp()
        loss = y.sum()
    graph = capture(loss, names=Names({"x": x, "loss": loss}))
    line = next(node.source for node in graph.nodes() if node.name == "sin")
    assert line is not None

    def found(text: str) -> list[str]:
        return [graph.names[id] for id in find_nodes(graph, text)]

    assert sorted(found("part.one/sin:1")) == ["SinBackward0", "sin"]
    assert sorted(found("part.one/exp")) == sorted(found("exp")) == ["ExpBackward0", "exp"]
    assert found("ExpBackward0") == ["ExpBackward0"]
    assert set(found("part")) == {"sin", "exp", "SinBackward0", "ExpBackward0"}
    assert found("x") == ["AccumulateGrad", "x"]
    assert "sin" in found(f"{PurePath(line.file).name}:{line.line}")
    assert [graph.names[id] for id in find_step(graph, "#2")] == ["ExpBackward0"]
    with pytest.raises(UnknownAddress, match="no node #9; they run as #1 to #4"):
        find_step(graph, "#9")


@pytest.mark.parametrize("view", ["backward", "both"])
def test_the_root_has_its_name_in_every_view(view: Literal["backward", "both"]) -> None:
    w = torch.randn(3, requires_grad=True)
    loss = w.sin().sum()
    graph = capture(loss, view, names=Names({"w": w, "loss": loss}))
    ways = part_between(graph, find_nodes(graph, "loss"), find_nodes(graph, "w"))
    assert ways is not None
    assert "SinBackward0" in ways.names


def test_a_name_that_does_not_exist_brings_those_that_do() -> None:
    with pytest.raises(UnknownAddress, match=r"'blocks\.5/relo:1'; did you mean blocks\.5/relu:1"):
        find_nodes(sample_graphs.residual(10), "blocks.5/relo:1")


def test_a_folding_folds_again_as_if_for_the_first_time() -> None:
    graph = sample_graphs.residual(12)
    folding = Folding(graph)
    for boxes in (60, 6, 60, 20, 1):
        assert to_json(folding.fold(boxes)) == to_json(fold(graph, max_boxes=boxes))


def test_folding_describes_only_gradients_that_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x
    for _ in range(200):
        y = (y * x).tanh()
    observed = ObservedPass(backward_call(y.sum()), Names({"x": x}))
    observed.run()
    graph = observed.graph("both")
    described = []
    make = statistics_table._made
    monkeypatch.setattr(
        statistics_table, "_made", lambda *facts: described.append(facts) or make(*facts)
    )
    small = fold(graph, max_boxes=20)
    assert small.edge_statistics
    assert 0 < len(described) < 4 * (len(small) + small.edge_count)


def test_a_block_that_is_only_a_list_of_layers_keeps_its_name() -> None:
    modules = {f"block.{at}": "Block" for at in range(2)}
    modules |= {f"block.{at}.layer": "ModuleList" for at in range(2)}
    build = GraphBuilder(modules=modules)
    before = build.node("leaf", "forward", "x", variable="x")
    for at in range(2):
        for layer in range(3):
            id = build.node("op", "forward", "addmm", scope=f"block.{at}.layer.{layer}")
            build.edge("value", before, id)
            before = id
    build.edge("value", before, build.node("output", "forward", "y", variable="y"))
    assert groups(fold(build.graph(), ("forward",), max_boxes=3)) == ["block.0", "block.1"]
