"""Pictures that fill a shape, as a slide has it."""

from __future__ import annotations

import re

import pytest

import gradstep
from gradstep.graph.model import Graph
from gradstep_viz.formats import Drawing
from gradstep_viz.level_of_detail import LEAST_SCALE, lay_out_in
from gradstep_viz.options import SLIDE_WIDTH, RenderOptions, Room
from tests.viz import picture_programs, sample_graphs
from tests.viz.laws import check

ENGINES = ["core", pytest.param("pytorch", marks=pytest.mark.torch)]
SHAPES = {"16:9": 16 / 9, "4:3": 4 / 3, "1:2": 0.5}
VIEWS = ["both", "forward", "backward", "flow", "auto"]
CHAIN = """
import torch
from torch import nn

torch.manual_seed(1)
w1, w2 = nn.Parameter(torch.randn(4, 3)), nn.Parameter(torch.randn(2, 4))
b1, b2 = nn.Parameter(torch.zeros(4)), nn.Parameter(torch.zeros(2))
x, y = torch.randn(1, 3), torch.randn(1, 2)
h = torch.tanh(x @ w1.T + b1)
out = h @ w2.T + b2
((out - y) ** 2).mean().backward()
"""


@pytest.fixture
def graph() -> Graph:
    return picture_programs.graph_of_code(CHAIN, "core")


def view_box(svg: str) -> list[int]:
    match = re.search(r'viewBox="([-\d ]+)"', svg)
    assert match
    return [int(text) for text in match[1].split()]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("view", VIEWS)
def test_a_picture_has_the_shape_that_is_asked_for(graph: Graph, shape: str, view: str) -> None:
    svg = gradstep.render(graph, view=view, shape=shape).text  # type: ignore[call-overload]
    left, top, width, height = view_box(svg)
    assert width / height == pytest.approx(SHAPES[shape], rel=0.01)
    assert f'<rect class="bg" x="{left}" y="{top}" width="{width}" height="{height}"/>' in svg
    assert left <= 0
    assert top <= 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_tall_picture_stands_in_columns_on_a_slide(engine: str) -> None:
    graph = picture_programs.graph_of_code(CHAIN, engine)
    room = Room(SLIDE_WIDTH, SLIDE_WIDTH * 9 / 16)
    for view in ("both", "forward"):
        tall = Drawing(graph, RenderOptions(view=view), ())
        wide = Drawing(graph, RenderOptions(view=view, shape="16:9"), ())
        assert view == "both" or len(wide.picture.boxes) == len(tall.picture.boxes)
        before, after = (room.scale(one.layout.width, one.layout.height) for one in (tall, wide))
        assert after > 1.3 * before
        assert after >= LEAST_SCALE
        check(wide.picture, lay_out_in(wide.picture, room))


def test_what_is_too_fine_for_a_slide_is_folded() -> None:
    options = RenderOptions(view="forward", shape="16:9")
    room = options.room
    assert room is not None
    graph = picture_programs.graph_of("small_gpt", "core")
    drawing = Drawing(graph, options, ())
    assert room.scale(drawing.layout.width, drawing.layout.height) >= LEAST_SCALE
    assert len(drawing.picture.boxes) < len(
        Drawing(graph, RenderOptions(view="both"), ()).picture.boxes
    )
    rows = Drawing(graph, RenderOptions(view="flow", shape="16:9"), ()).flow
    assert rows is not None
    assert room.scale(rows.width, rows.height) >= LEAST_SCALE


@pytest.mark.parametrize("view", ["both", "forward", "flow"])
def test_a_picture_without_captions_says_them_only_to_screen_readers(
    graph: Graph, view: str
) -> None:
    svg = gradstep.render(graph, view=view, captions=False).text  # type: ignore[call-overload]
    shown = re.sub(r"<(title|desc)\b.*?</\1>", "", svg, flags=re.DOTALL)
    assert "ops" not in shown
    assert view_box(svg)[3] < view_box(gradstep.render(graph, view=view).text)[3]  # type: ignore[call-overload]
    assert " . " not in svg


def test_a_picture_of_no_shape_is_as_it_was() -> None:
    svg = gradstep.render(sample_graphs.quadratic(), view="both").text
    assert view_box(svg)[:2] == [0, 0]
