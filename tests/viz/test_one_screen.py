"""Default pictures of real programs fit a screen, and small ones keep the room they have."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

import viz
from autograd_core.dag import Graph
from tests.viz import sample_graphs, sample_programs
from tests.viz.sample_programs import graph_of

SCREEN = (2050, 1200)


def size_of(graph: Graph, view: str = "both") -> tuple[float, float]:
    text = viz.render(graph, view=view).text  # type: ignore[arg-type]
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
def test_both_halves_of_a_program_fit_one_screen(
    program: Callable[[], sample_programs.Program],
) -> None:
    width, height = size_of(graph_of(program))
    assert width <= SCREEN[0]
    assert height <= SCREEN[1]
    assert 1 / 1.5 < width / height < 2.5


@pytest.mark.parametrize("view", ["forward", "backward", "both"])
def test_even_a_loop_of_500_steps_is_no_strip(view: str) -> None:
    width, height = size_of(graph_of(sample_programs.lstm), view)
    assert max(width, height) < 2300
    assert 1 / 1.5 < width / height < 2.5


def test_a_picture_that_fits_keeps_its_air() -> None:
    assert size_of(sample_graphs.quadratic()) == (904, 611)


@pytest.mark.parametrize("view", ["forward", "backward", "both"])
def test_a_card_counts_parameters_in_every_view(view: str) -> None:
    text = viz.render(graph_of(sample_programs.transformer), view=view, format="txt").text  # type: ignore[arg-type]
    assert "402 k parameters" in text
    assert "encoder.layers.1.norm1" not in text
