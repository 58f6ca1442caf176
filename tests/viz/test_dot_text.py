"""DOT: golden files, quoting, and that Graphviz reads it."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import graphviz
import pytest

import viz
from autograd_core.dag.builder import GraphBuilder
from tests.viz import sample_graphs
from viz import to_dot, to_graphviz
from viz.compose import make_picture
from viz.dot import write_dot
from viz.picture import VIEWS, View
from viz.renderers import DotCommand, EmbeddedGraphviz

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["quadratic", "mlp", "shared"])
def test_dot_is_the_golden_one(name: str, view: View, request: pytest.FixtureRequest) -> None:
    text = to_dot(getattr(sample_graphs, name)(), view=view)
    file = GOLDEN / f"{name}.{view}.dot"
    if request.config.getoption("--update-golden", default=False):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), "rerun with --update-golden if this is meant"


def test_to_graphviz_gives_a_digraph_to_go_on_with() -> None:
    digraph = to_graphviz(sample_graphs.quadratic())
    assert isinstance(digraph, graphviz.Digraph)
    digraph.node("mine")
    assert "mine" in digraph.source


@pytest.mark.parametrize("view", VIEWS)
def test_graphviz_reads_it_with_every_id_in_place(view: View) -> None:
    picture = make_picture(sample_graphs.mlp(), view)
    answer = json.loads(EmbeddedGraphviz().render(write_dot(picture), "json0"))
    nodes = {thing["id"] for thing in answer["objects"] if "id" in thing}
    assert nodes == {box.key for box in picture.boxes}
    assert {edge["id"] for edge in answer["edges"]} == {line.key for line in picture.lines}


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
    text = to_dot(sample_graphs.quadratic())
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
    drawn = viz.render(graph, format="dot", **options).text
    assert viz.to_dot(graph, **options) == drawn == viz.to_graphviz(graph, **options).source


def test_graphviz_gets_no_options_that_contradict_each_other() -> None:
    with pytest.raises(viz.VizError, match="full folds nothing"):
        viz.to_dot(sample_graphs.residual(2), full=True, depth=1)
