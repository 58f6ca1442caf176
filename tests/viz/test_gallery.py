"""The pictures of the gallery, as its pages show them."""

from __future__ import annotations

import math
import re
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import autograd_core as torch
from autograd_core import nn
from autograd_core.tensor import Tensor
from gradstep import trace
from gradstep.capturing import Names
from gradstep.capturing.roots import backward_call
from gradstep.console.session import Session
from gradstep.graph.model import Graph
from gradstep_viz.films.recording import record_call
from gradstep_viz.layout import lay_out
from gradstep_viz.level_of_detail import Composer, folding_of
from gradstep_viz.options import RenderOptions
from gradstep_viz.picture.geometry import Route
from gradstep_viz.picture.model import VIEWS, View
from gradstep_viz.picture.subject import graph_of_session
from tests.viz.laws import cut_labels, labels_of_others

EXHIBIT = re.compile(r"^\.\. exhibit:: (\S+):(\S+)\n((?:   :.*\n)*)", re.M)
GALLERY = Path(__file__).parents[2] / "docs" / "gallery"


class Exhibit(NamedTuple):
    """A picture of the gallery: a tensor of a program, and the options of its page."""

    file: str
    name: str
    options: dict[str, Any]


def exhibits() -> list[Exhibit]:
    found = []
    for page in sorted(GALLERY.glob("*.rst")):
        for at in EXHIBIT.finditer(page.read_text()):
            given = dict(re.findall(r":([\w-]+): (\S+)", at[3]))
            options: dict[str, Any] = {}
            if "depth" in given:
                options["depth"] = int(given["depth"])
            if "leaves" in given:
                options["leaves"] = given["leaves"] != "no"
            found.append(Exhibit(at[1], at[2], options))
    return found


def graph_of(exhibit: Exhibit, view: View) -> Graph:
    """The graph with the gradients of the whole pass, as pages show it."""
    with trace():
        variables = runpy.run_path(str(GALLERY / exhibit.file))
    call = backward_call(variables[exhibit.name])
    return record_call(call, view, Names(variables)).after


@pytest.mark.sampled(12)
@pytest.mark.torch
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("exhibit", exhibits(), ids=lambda exhibit: Path(exhibit.file).stem)
def test_no_foreign_line_cuts_a_label(exhibit: Exhibit, view: View) -> None:
    options = RenderOptions(view=view, **exhibit.options)
    folding = folding_of(graph_of(exhibit, view), view)
    composed = Composer(folding).compose_for_a_screen(options)
    layout = composed.layout or lay_out(composed.picture)
    assert cut_labels(composed.picture, layout) == []


@pytest.mark.torch
def test_a_label_that_a_line_cuts_is_found() -> None:
    graph = graph_of(Exhibit("thrown_ball.py", "height", {}), "both")
    picture = Composer(folding_of(graph, "both")).compose(RenderOptions()).picture
    layout = lay_out(picture)
    x, y, _ = next(label for label in layout.routes.column("label") if label is not None)
    across = Route((x - 40, y - 4), ((x + 40, y - 4),), None)
    assert cut_labels(
        picture._replace(lines=[*picture.lines, picture.lines[0]._replace(label="")]),  # type: ignore[arg-type]
        layout._replace(routes=[*layout.routes, across]),  # type: ignore[arg-type]
    )


def test_what_the_rounds_of_a_loop_give_leaves_room_for_labels() -> None:
    field, y = nn.Linear(2, 2), torch.tensor([[2.0, 0.0]])
    seen = []
    with trace():
        for _ in range(12):
            y = y + 0.1 * torch.tanh(field(y))
            seen.append(y)
        loss = torch.stack(seen).abs().mean()
    session = Session(loss)
    session.do("continue")  # now the labels have numbers
    composed = Composer(folding_of(graph_of_session(session, "both"), "both")).compose_for_a_screen(
        RenderOptions()
    )
    layout = composed.layout or lay_out(composed.picture)
    assert cut_labels(composed.picture, layout) == []


def test_saved_values_come_down_beside_the_labels_of_two_lines_between_the_same_boxes() -> None:
    x = torch.ones(4, 12, requires_grad=True)
    with trace():
        q, k, v = x.split(4, 1)
        loss = (torch.softmax(q @ k.permute(1, 0), 1) @ v).sum()
    session = Session(loss)
    session.do("continue")
    picture = (
        Composer(folding_of(graph_of_session(session, "both"), "both"))
        .compose(RenderOptions())
        .picture
    )
    assert cut_labels(picture, lay_out(picture)) == []


def squared_slope() -> Tensor:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (slope,) = torch.autograd.grad(torch.exp(x).sum(), x, create_graph=True)
    return (slope * slope).sum()


def gradient_penalty() -> Tensor:
    torch.manual_seed(0)
    x = torch.randn(5, 3, requires_grad=True)
    y = torch.tanh(x @ torch.randn(3, 3, requires_grad=True)).sum()
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    return y + ((slope.norm(2, dim=1) - 1) ** 2).mean()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("program", [squared_slope, gradient_penalty])
def test_labels_of_a_second_derivative_are_not_cut(
    program: Callable[[], Tensor], view: View
) -> None:
    with trace():
        loss = program()
    session = Session(loss, retain_graph=True)
    session.do("continue")
    folding = folding_of(graph_of_session(session, view), view)
    picture = Composer(folding).compose(RenderOptions(view=view)).picture
    assert cut_labels(picture, lay_out(picture)) == []


def test_lines_side_by_side_between_two_boxes_share_a_label_of_all() -> None:
    x = torch.ones(4, 3, requires_grad=True)
    with trace():
        rows = torch.stack(torch.tanh(x).unbind())
        loss = (rows * rows).sum()
    session = Session(loss)
    session.do("continue")
    folding = folding_of(graph_of_session(session, "both"), "both")
    picture = Composer(folding).compose(RenderOptions()).picture
    layout = lay_out(picture)
    labels = {(picture.boxes[line.source].title, line.label) for line in picture.lines}
    assert labels >= {
        ("unbind", "4 × [3]"), ("StackBackward0", f"4 × [3] · rms {2 * math.tanh(1):.3g}"),
        ("rows", "2 × [4, 3]"), ("MulBackward0", "2 × [4, 3] · rms 0.762"),
    }  # fmt: skip
    assert cut_labels(picture, layout) == labels_of_others(picture, layout) == []
