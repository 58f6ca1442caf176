"""Infinite values are an alarm where they lead to what is not finite, and a fact elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep.graph import infinities
from gradstep.graph.model import Graph
from gradstep.graph.serialize import from_json, to_json
from gradstep_tui.cli import main
from gradstep_viz.picture.compose import make_picture
from tests.engines.architecture_programs import on_the_core
from tests.viz.picture_programs import graph_of_code

HEAD = "import torch\nx = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)\n"
ABSORBED = {
    "an additive mask": (
        (
            "m = torch.full((2, 2), float('-inf')).triu(1)\n"
            "(torch.softmax(x + m, -1) * x).sum().backward()\n"
        ),
        "−inf 1/4",
    ),
    "a logarithm of 0 that where leaves out": (
        (
            "kept = torch.tensor([[True, False], [True, True]])\n"
            "safe = torch.where(kept, x, torch.zeros(2, 2))\n"
            "torch.where(kept, safe.log(), torch.zeros(2, 2)).sum().backward()\n"
        ),
        "−inf 1/4",
    ),
    "the start of a maximum": (
        "best = torch.tensor(float('-inf'))\ntorch.maximum(best, x).sum().backward()\n",
        "−inf",
    ),
    "a quotient that clamp bounds": (
        "(torch.clamp(torch.ones(2, 2) / (x - 1), max=5.0) * x).sum().backward()\n",
        "inf 1/4",
    ),
    "both infinities": (
        (
            "m = torch.tensor([[float('-inf'), 0.0], [0.0, float('inf')]])\n"
            "(torch.clamp(x + m, min=-5.0, max=5.0) * x).sum().backward()\n"
        ),
        "±inf 2/4",
    ),
}
REAL = {
    "the loss": ("((x - 1) ** 2).log().sum().backward()\n", "! −inf 1/4"),
    "a row that is masked as a whole": (
        "m = torch.full((2, 2), float('-inf'))\ntorch.softmax(x + m, -1).sum().backward()\n",
        "! −inf 4/4",
    ),
}
ENGINES = pytest.mark.parametrize(
    "engine", ["core", pytest.param("pytorch", marks=pytest.mark.torch)]
)


def said(graph: Graph) -> list[str]:
    """What stands in boxes and rows, and on lines, of the forward half."""
    picture = make_picture(graph, "forward")
    texts = [box.right for box in picture.boxes]
    texts += [chip.right for box in picture.boxes for chip in box.chips]
    return [*texts, *(line.label for line in picture.lines)]


@ENGINES
@pytest.mark.parametrize("name", ABSORBED)
def test_an_infinity_whose_consumers_are_finite_is_no_alarm(name: str, engine: str) -> None:
    code, text = ABSORBED[name]
    graph = graph_of_code(HEAD + code, engine, "--values")
    assert not any("!" in one for one in said(graph))
    assert any(text in one for one in said(graph))
    picture = make_picture(graph, "forward")
    assert not any(box.alert or any(chip.alert for chip in box.chips) for box in picture.boxes)
    assert not any(line.alert for line in picture.lines)
    assert not {graph.halves[id] for id in infinities.troubled(graph)} & {"forward"}


@ENGINES
@pytest.mark.parametrize("name", REAL)
def test_an_infinity_that_leads_to_trouble_is_an_alarm(name: str, engine: str) -> None:
    code, text = REAL[name]
    graph = graph_of_code(HEAD + code, engine, "--values")
    assert text in said(graph)
    assert "forward" in {graph.halves[id] for id in infinities.troubled(graph)}


@ENGINES
def test_a_number_is_no_alarm_where_the_values_after_it_were_not_kept(engine: str) -> None:
    graph = graph_of_code(HEAD + ABSORBED["the start of a maximum"][0], engine)
    assert not any("!" in one for one in said(graph))


@ENGINES
def test_a_film_says_the_sign_and_gives_no_alarm(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = HEAD + ABSORBED["an additive mask"][0]
    Path("train.py").write_text(code if engine == "pytorch" else on_the_core(code), "utf-8")
    assert main(["film", "-o", "film.svg", "train.py"]) == 0
    film = Path("film.svg").read_text("utf-8")
    assert "[2, 2] · −inf 1/4" in film
    assert ">! " not in film


def test_the_sign_is_kept_in_json() -> None:
    graph = graph_of_code(HEAD + ABSORBED["an additive mask"][0], "core", "--values")
    again = from_json(to_json(graph))
    assert dict(again.statistics) == dict(graph.statistics)
    assert any(one.negative_infs for one in again.statistics.values())
