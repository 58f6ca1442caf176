"""Default pictures of real programs fit a screen, and small ones keep the room they have."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import gradstep
from gradstep import Graph
from gradstep_viz.level_of_detail import LEAST_SCALE, SCREEN_HEIGHT, SCREEN_WIDTH
from gradstep_viz.theme import MUTED_SIZE
from tests.viz import sample_graphs, sample_programs
from tests.viz.sample_programs import graph_of

OPEN = [sample_programs.mixture]
"""Programs of which one module of many is drawn open, on two screens."""


def size_of(graph: Graph, view: str = "both") -> tuple[float, float]:
    text = gradstep.render(graph, view=view).text  # type: ignore[arg-type]
    found = re.search(r'width="([\d.]+)" height="([\d.]+)"', text)
    assert found is not None
    return float(found[1]), float(found[2])


@pytest.mark.parametrize(
    "program",
    [
        sample_programs.mlp,
        sample_programs.residual,
        sample_programs.transformer,
        sample_programs.dense,
        sample_programs.shared,
    ],
    ids=lambda program: program.__name__,
)
def test_both_halves_of_a_program_have_the_shape_of_a_screen(
    program: Callable[[], sample_programs.Program],
) -> None:
    width, height = size_of(graph_of(program))
    assert 1 / 1.5 < width / height < 2.5


@pytest.mark.sampled(8)
@pytest.mark.parametrize("view", ["forward", "backward", "both"])
@pytest.mark.parametrize(
    "program",
    [one for one in sample_programs.ALL if one is not sample_programs.irregular],
    ids=lambda program: program.__name__,
)
def test_every_view_can_be_read_on_one_screen(
    program: Callable[[], sample_programs.Program], view: str
) -> None:
    width, height = size_of(graph_of(program), view)
    screens = 2 if view == "both" else 1
    assert min(SCREEN_WIDTH / width, screens * SCREEN_HEIGHT / height) >= LEAST_SCALE


@pytest.mark.sampled(5)
@pytest.mark.parametrize("ops", [49, 58, 64, 79])
@pytest.mark.parametrize("view", ["forward", "backward", "both"])
def test_some_dozens_of_ops_fold_until_they_can_be_read(ops: int, view: str) -> None:
    graph = graph_of(functools.partial(sample_programs.irregular, ops))
    width, height = size_of(graph, view)
    screens = 2 if view == "both" else 1
    assert min(SCREEN_WIDTH / width, screens * SCREEN_HEIGHT / height) >= LEAST_SCALE


@pytest.mark.parametrize("program", OPEN, ids=lambda program: program.__name__)
def test_both_halves_show_the_inside_of_one_module_of_many(
    program: Callable[[], sample_programs.Program],
) -> None:
    text = gradstep.render(graph_of(program), format="txt").text
    like = re.search(r"\blike ((?:\w+ = )?\S+)", text)
    assert like is not None
    if like[1] == "number = 0":  # which runs more than the module that its parameters are of
        assert re.search(r"^  experts\.0\.0 ", text, re.MULTILINE)
        return
    assert re.search(
        rf"^  {re.escape(like[1])}\.\w+|in {re.escape(like[1])}\.\w+", text, re.MULTILINE
    )


def test_what_is_asked_for_is_drawn_though_it_is_larger_than_a_screen() -> None:
    graph = graph_of(sample_programs.transformer)
    default = gradstep.render(graph, view="both").text
    asked = gradstep.render(graph, view="both", max_boxes=160).text
    assert asked.count('class="node') > default.count('class="node')


def test_every_format_shows_the_picture_that_fits() -> None:
    graph = graph_of(sample_programs.lstm)
    dot = gradstep.to_graphviz(graph).source
    assert gradstep.render(graph, format="dot").text == dot
    assert re.findall(r'class="node', gradstep.render(graph, view="both").text) == [
        'class="node'
    ] * len(re.findall(r"^\t+n\d+ \[", dot, re.MULTILINE))


def test_a_picture_that_fits_keeps_its_air() -> None:
    assert size_of(sample_graphs.quadratic()) == (904, 611)


@pytest.mark.parametrize("width", [None, "830"])
def test_boxes_are_drawn_unasked_only_where_all_text_is_ten_pixels_high_on_a_page(
    width: str | None,
) -> None:
    graphs = [sample_graphs.quadratic(), sample_graphs.mlp(), sample_graphs.residual(5, 2)]
    graphs += map(graph_of, (sample_programs.mlp, sample_programs.residual))
    shown = [gradstep.render(graph, width=width).text for graph in graphs]
    boxes = [text for text in shown if "forward ↓" in text]
    assert boxes
    for text in boxes:
        found = re.search(r'viewBox="0 0 ([\d.]+) ', text)
        assert found is not None
        assert MUTED_SIZE * min(1, 830 / float(found[1])) >= 10


@pytest.mark.parametrize("view", ["forward", "backward", "both"])
def test_a_card_counts_parameters_in_every_view(view: str) -> None:
    text = gradstep.render(graph_of(sample_programs.transformer), view=view, format="txt").text  # type: ignore[arg-type]
    assert "402 k parameters" in text
    assert "encoder.layers.1.norm1" not in text


def test_a_picture_for_a_width_can_be_read_there_or_a_note_says_why_not(
    sample: Callable[[Any, int], list[Any]],
) -> None:
    programs = (sample_programs.lstm, sample_programs.transformer, sample_programs.siamese)
    widths = (("800", 800), ("88mm", 88 * 96 / 25.4))
    for program, (width, pixels), view in sample(
        [*product(programs, widths, ("both", "backward"))], 6
    ):
        done = gradstep.render(graph_of(program), view=view, width=width)
        shown, whole = (
            float(found[1])
            for found in (
                re.search(r' width="(\d+)" height', done.text),
                re.search(r'viewBox="0 0 (\d+) ', done.text),
            )
            if found is not None
        )
        assert shown <= pixels + 1
        notes = " ".join(done.notes)
        assert (shown / whole < LEAST_SCALE - 0.01) == ("the smallest text is" in notes)
