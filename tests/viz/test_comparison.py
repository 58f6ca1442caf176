"""Pictures and pages of two graphs: what is marked, and what stands beside each other."""

from __future__ import annotations

import html
import re
from pathlib import Path

from gradstep.comparing.align import align
from gradstep.comparing.merging import merged
from gradstep.comparing.runs import compare, run_of_graph, shown_graphs
from gradstep.comparing.values import Tolerance
from gradstep.graph import Graph
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.folding import fold
from gradstep.graph.statistics import Statistics
from gradstep_viz.comparison import draw_comparison
from gradstep_viz.options import RenderOptions
from gradstep_viz.rendering import render_graph


def graph(*ops: str, scope: str = "", number: float = 0.5) -> Graph:
    """A graph of a leaf and ops one after the other, in both halves; the last gradient is
    ``number``."""
    build = GraphBuilder("y")
    leaf = build.node("leaf", "forward", "x", variable="x", shape=(2,))
    forward = [
        build.node("op", "forward", op, scope=f"{scope}{at // 2}" if scope else "", shape=(2,))
        for at, op in enumerate(ops)
    ]
    backward = [
        build.node("op", "backward", f"{op.title()}Backward0",
                   scope=f"{scope}{at // 2}" if scope else "", order=len(ops) - 1 - at)
        for at, op in enumerate(ops)
    ]  # fmt: skip
    grad = build.node(
        "leaf", "backward", "AccumulateGrad", variable="x", shape=(2,), order=len(ops)
    )
    for one, other in zip([leaf, *forward], forward, strict=False):
        build.edge("value", one, other, shape=(2,))
    for one, other in zip(backward, [grad, *backward], strict=False):
        stats = Statistics(1, number, number, number, 0, 0, 0)
        build.edge("gradient", one, other, statistics=stats)
    for one, other in zip([leaf, *forward], [grad, *backward], strict=True):
        build.pair(one, other)
    return build.graph()


def drawn(one: Graph, other: Graph, format: str, **options: object) -> str:
    runs = run_of_graph(one), run_of_graph(other)
    comparison = compare(*runs, Tolerance())
    pair = shown_graphs(*runs, comparison)
    assert pair is not None
    chosen = RenderOptions(legend=True, **options)  # type: ignore[arg-type]
    return draw_comparison(pair, comparison, ("a", "<b>"), format, chosen, Path()).text


def test_of_a_part_that_one_graph_has_compiled_the_ops_are_drawn() -> None:
    plain = graph("sin", "tanh", "exp", number=0.5)
    compiled = graph("compiled_function", "exp", number=0.25)
    for one, other, theirs in ((plain, compiled, 0.25), (compiled, plain, 0.5)):
        whole = merged(align(one, other))
        assert not whole.marks
        assert sorted(whole.names) == sorted(plain.names)
        edges = {(whole.names[edge.source], whole.names[edge.target]) for edge in whole.edges()}
        assert len(list(whole.edges())) == len(edges) == len(list(plain.edges()))
        assert {("x", "sin"), ("tanh", "exp"), ("ExpBackward0", "TanhBackward0")} <= edges
        (at,) = whole.edge_others
        edge = list(whole.edges())[at]
        assert whole.names[edge.target] == "TanhBackward0"
        assert edge.statistics is not None
        assert (edge.statistics.rms, whole.edge_others[at].rms) == (0.75 - theirs, theirs)


def test_both_graphs_are_in_one_once() -> None:
    one, other = graph("sin", "tanh", "exp"), graph("sin", "relu", "cos", "exp", number=0.25)
    whole = merged(align(one, other))
    named = {whole.names[id]: mark.what for id, mark in whole.marks.items()}
    assert named == {
        "tanh": "removed", "TanhBackward0": "removed", "relu": "added", "cos": "added",
        "ReluBackward0": "added", "CosBackward0": "added",
    }  # fmt: skip
    both = {(one.names[edge.source], one.names[edge.target]) for edge in one.edges()}
    both |= {(other.names[edge.source], other.names[edge.target]) for edge in other.edges()}
    assert both == {(whole.names[e.source], whole.names[e.target]) for e in whole.edges()}
    assert whole.edge_count == len(both)
    names = [whole.names[id] for id in range(len(whole)) if whole.halves[id] == "forward"]
    assert names.index("sin") < names.index("relu") < names.index("cos") < names.index("exp")
    assert [stats.rms for stats in whole.edge_others.values()] == [0.25]


def test_a_graph_and_itself_have_no_marks() -> None:
    one = graph("sin", "exp")
    whole = merged(align(one, one))
    assert (len(whole), whole.edge_count, whole.marks) == (len(one), one.edge_count, {})


def test_a_picture_marks_what_differs_in_every_format() -> None:
    one, other = graph("sin", "tanh", "exp"), graph("sin", "relu", "exp", number=0.25)
    assert "≠ op tanh → relu" in drawn(one, other, "txt")
    svg = drawn(one, other, "svg")
    assert "0.5 ≠ 0.25" in svg
    assert 'class="node fwd changed"' in svg
    assert "a | &lt;b&gt;: the graphs differ" in svg
    assert "differs; number ≠ that of the other run" in svg
    dot = drawn(one, other, "dot")
    assert "penwidth=3" in dot
    assert "0.5 ≠ 0.25" in dot
    assert "changed" not in drawn(one, one, "svg")
    coloured = re.findall(r'<text[^>]*class="[^"]*\bx\b[^"]*">([^<]*)', svg)
    assert "0.5 ≠ 0.25" in coloured
    assert all("≠" in text for text in coloured)
    page = html.unescape(drawn(one, other, "html"))
    assert "0.5 ≠ 0.25" in page  # in either graph, its own number is the first
    assert "0.25 ≠ 0.5" in page
    longer = graph("sin", "tanh", "cos", "exp")
    assert 'class="node fwd added"' in drawn(one, longer, "svg")
    assert 'class="node fwd removed"' in drawn(longer, one, "svg")


def test_where_values_differ_first_is_marked() -> None:
    svg = drawn(graph("sin", "exp"), graph("sin", "exp", number=0.25), "svg")
    assert svg.count("≠ values differ first here") == 1
    unmarked = merged(align(graph("sin", "exp"), graph("sin", "exp", number=0.25)))
    svg = render_graph(unmarked, "svg", RenderOptions(legend=True)).text
    assert "0.5 ≠ 0.25" in svg
    assert "≠ differs; number ≠ that of the other run" in svg


def test_a_folded_box_is_marked_as_what_is_inside() -> None:
    one = graph(*["sin", "tanh"] * 6, scope="layer.")
    other = graph(*["sin", "tanh"] * 2, "cos", "tanh", *["sin", "tanh"] * 3, scope="layer.")
    small = fold(merged(align(one, other)), max_boxes=4)
    groups = [id for id, kind in enumerate(small.kinds) if kind == "group"]
    assert {small.marks[id] for id in groups if id in small.marks}
