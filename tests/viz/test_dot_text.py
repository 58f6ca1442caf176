"""DOT: golden files, quoting, and that Graphviz reads it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import graphviz
import pytest
from hypothesis import given

import gradstep
import gradstep_viz
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.folding import fold
from gradstep.graph.model import Graph
from gradstep_viz import to_graphviz
from gradstep_viz.layout.graphviz_layout import read_layout
from gradstep_viz.options import RenderOptions
from gradstep_viz.output.dot import POINTS_PER_INCH, write_dot
from gradstep_viz.output.renderers import DotCommand, EmbeddedGraphviz
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.geometry import text_width
from gradstep_viz.picture.model import VIEWS, Picture, View
from gradstep_viz.rendering import render_graph
from gradstep_viz.theme import MUTED_SIZE
from tests.golden import check_golden
from tests.viz import sample_graphs, sample_programs
from tests.viz.sample_programs import graph_of
from tests.viz.test_layout_laws import twins

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["quadratic", "mlp", "shared"])
def test_dot_is_the_golden_one(name: str, view: View) -> None:
    text = to_graphviz(getattr(sample_graphs, name)(), view=view).source
    check_golden(GOLDEN / f"{name}.{view}.dot", text)


def test_to_graphviz_gives_a_digraph_to_go_on_with() -> None:
    digraph = to_graphviz(sample_graphs.quadratic())
    assert isinstance(digraph, graphviz.Digraph)
    digraph.node("mine")
    assert "mine" in digraph.source


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.extra("graphviz")
def test_graphviz_reads_it_with_every_id_in_place(view: View) -> None:
    picture = make_picture(sample_graphs.mlp(), view)
    answer = json.loads(EmbeddedGraphviz().render(write_dot(picture), "json0"))
    nodes = {thing["id"] for thing in answer["objects"] if "id" in thing}
    assert nodes == {box.key for box in picture.boxes}
    edges = {edge["id"] for edge in answer["edges"] if "id" in edge}
    assert edges == {line.key for line in picture.lines}


def check_halves(picture: Picture, answer: bytes) -> None:
    """The halves stand side by side, partners on one rank, and every line has its course."""
    drawn = json.loads(answer)
    nodes = {thing["id"]: thing for thing in drawn["objects"] if "id" in thing}
    courses = {thing["id"]: "pos" in thing for thing in drawn.get("edges", ()) if "id" in thing}
    spans: dict[str, list[float]] = {"forward": [], "backward": []}
    heights = []
    for box in picture.boxes:
        x, y = map(float, nodes[box.key]["pos"].split(","))
        half_width = float(nodes[box.key]["width"]) * POINTS_PER_INCH / 2
        spans[box.half] += [x - half_width, x + half_width]
        heights.append(y)
    assert max(spans["forward"]) < min(spans["backward"])
    for box, y in zip(picture.boxes, heights, strict=True):
        assert box.pair is None or abs(heights[box.pair] - y) < 1
    assert courses == {line.key: True for line in picture.lines}


def check_names_between_partners(picture: Picture, answer: bytes) -> int:
    """The name of what a backward node saved of its forward op stands between their boxes; returns
    how many there are."""
    drawn = json.loads(answer)
    nodes = {thing["id"]: thing for thing in drawn["objects"] if "id" in thing}
    ends = {line.key: line for line in picture.lines if line.kind == "saved"}
    found = 0
    for edge in drawn["edges"]:
        line = ends.get(edge.get("id"))
        if line is None or picture.boxes[line.source].pair != line.target or "xlp" not in edge:
            continue
        sides = []
        for box, side in ((line.source, 1), (line.target, -1)):
            node = nodes[picture.boxes[box].key]
            x, width = float(node["pos"].split(",")[0]), float(node["width"]) * POINTS_PER_INCH
            sides.append(x + side * width / 2)
        middle, half = float(edge["xlp"].split(",")[0]), text_width(line.label, MUTED_SIZE) / 2
        assert sides[0] <= middle - half
        assert middle + half <= sides[1]
        found += 1
    return found


REGULAR = [one for one in sample_programs.ALL if one is not sample_programs.irregular]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("program", REGULAR, ids=lambda program: program.__name__)
@pytest.mark.extra("graphviz")
def test_the_halves_stand_side_by_side(program: Callable[[], sample_programs.Program]) -> None:
    picture = make_picture(fold(graph_of(program), max_boxes=40))
    answer = EmbeddedGraphviz().render(write_dot(picture), "json0")
    check_halves(picture, answer)
    assert check_names_between_partners(picture, answer)


@given(twins())
@pytest.mark.extra("graphviz")
def test_the_halves_of_random_graphs_stand_side_by_side(graph: Graph) -> None:
    picture = make_picture(graph)
    check_halves(picture, EmbeddedGraphviz().render(write_dot(picture), "json0"))


@pytest.mark.dot
@pytest.mark.parametrize("program", REGULAR, ids=lambda program: program.__name__)
def test_the_command_draws_the_halves_side_by_side_too(
    program: Callable[[], sample_programs.Program],
) -> None:
    picture = make_picture(fold(graph_of(program), max_boxes=40))
    check_halves(picture, DotCommand().render(write_dot(picture), "json0"))


def test_the_forward_half_runs_to_the_right_where_that_is_asked_for() -> None:
    graph = sample_graphs.quadratic()
    options = RenderOptions(rankdir="LR")
    text = render_graph(graph, "dot", options).text
    assert "rankdir=LR" in text
    assert "forward →" in text
    assert "backward ←" in text
    backward = RenderOptions(rankdir="LR", view="backward")
    assert "rankdir=RL" in render_graph(graph, "dot", backward).text
    assert "rankdir=LR" in to_graphviz(graph, rankdir="LR").source
    assert render_graph(graph, "mermaid", backward).text.startswith("flowchart RL")
    assert "direction LR" in render_graph(graph, "mermaid", options).text


def test_each_half_is_a_cluster_under_its_caption() -> None:
    text = to_graphviz(sample_graphs.quadratic()).source
    forward, backward = text.split("subgraph cluster_")[1:]
    assert forward.startswith("forward {")
    assert 'label="forward ↓ · 4 ops, 2 leaves' in forward
    assert backward.startswith("backward {")
    assert 'label="backward ↑ · 4 nodes, 2 leaf gradients' in backward
    assert "cluster" not in to_graphviz(sample_graphs.quadratic(), view="backward").source


@pytest.mark.extra("graphviz")
def test_the_layout_of_graphviz_puts_each_caption_above_its_half() -> None:
    picture = make_picture(sample_graphs.quadratic())
    layout = read_layout(picture, EmbeddedGraphviz().render(write_dot(picture), "json0"))
    halves = picture.boxes.column("half")
    for half, start in zip(picture.halves, ("forward", "backward"), strict=True):
        left = min(p.x for p, at in zip(layout.places, halves, strict=True) if at == half)
        (caption,) = (one for one in layout.captions if one.text.startswith(start))
        assert caption.x == pytest.approx(left, abs=0.1)
    rows = sorted(layout.captions, key=lambda one: (one.y, one.x))
    assert all(a.right < b.x for a, b in pairwise(rows) if a.y == b.y)


@pytest.mark.extra("graphviz")
def test_a_png_has_the_layout_that_was_asked_for() -> None:
    class Painter:
        name, formats, source = "painter", frozenset({"png"}), "svg"

        def render(self, text: str, format: str) -> bytes:
            return text.encode()

    def drawn(layout: Literal["own", "graphviz"]) -> bytes:
        helpers = [Painter(), EmbeddedGraphviz()]
        options = RenderOptions(layout=layout)
        return render_graph(sample_graphs.quadratic(), "png", options, renderers=helpers).data

    assert drawn("graphviz") != drawn("own")


@pytest.mark.extra("graphviz")
def test_labels_come_back_as_they_were_written() -> None:
    names = ['"', "\\", "\\N", "\\l", "a\\", "<b>", "<", "&lt;", "{|}", "%", "é∂量", "x;y", "//"]
    build = GraphBuilder("names")
    for name in names:
        build.node("leaf", "forward", name, variable=name)
    picture = make_picture(build.graph(), "forward")
    svg = EmbeddedGraphviz().render(write_dot(picture), "svg").decode()
    texts = [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]
    assert [text for text in texts if text in names] == names


@pytest.mark.dot
def test_the_command_makes_png_and_pdf() -> None:
    text = to_graphviz(sample_graphs.quadratic()).source
    assert DotCommand().render(text, "png").startswith(b"\x89PNG")
    assert DotCommand().render(text, "pdf").startswith(b"%PDF")


@pytest.mark.parametrize(
    "options",
    [
        {"depth": 1},
        {"expand": "blocks.5", "view": "forward"},
        {"max_boxes": 10},
        {"around": "blocks.7/relu:1", "hops": 1},
        {"path": "loss..blocks.30.0.weight"},
    ],
)
def test_graphviz_gets_what_render_draws(options: dict[str, Any]) -> None:
    graph = sample_graphs.residual(40)
    drawn = gradstep.render(graph, format="dot", **options).text
    assert drawn == gradstep.to_graphviz(graph, **options).source


def test_graphviz_gets_no_options_that_contradict_each_other() -> None:
    with pytest.raises(gradstep_viz.VizError, match="full folds nothing"):
        gradstep.to_graphviz(sample_graphs.residual(2), full=True, depth=1)
