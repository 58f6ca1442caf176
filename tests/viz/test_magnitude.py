"""Gradients on a picture: how large, not yet, undefined, and zero."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_core as torch
import gradstep
from autograd_core.autograd.call import make_call
from gradstep import trace
from gradstep.capturing import Names
from gradstep.console.session import Session
from gradstep.debugger.history.observed_pass import ObservedPass
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Graph
from gradstep.graph.statistics import Statistics
from gradstep_viz import theme
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.magnitude import SIGNS, ZERO, Scale, scale_of, shade
from tests.viz import sample_graphs
from tests.viz.sample_graphs import scalar


def vanishing(decades: int) -> Graph:
    """Gradients that become ten times smaller with every node."""
    build = GraphBuilder("vanishing")
    last = build.node("seed", "backward", "seed", statistics=scalar(1))
    for order in range(decades):
        stats = scalar(10.0**-order)
        node = build.node("op", "backward", "TanhBackward0", order=order, statistics=stats)
        build.edge("gradient", last, node, statistics=stats)
        last = node
    return build.graph()


def observed(y, names, stop=None) -> Graph:
    with ObservedPass(make_call(y, None, None, False), Names(names)) as seen:
        seen.run(stop)
        return seen.graph("both", "y")


def shared_weight():
    with trace():
        w = torch.tensor(2.0, requires_grad=True)
        h = torch.tensor(0.5)
        for _ in range(8):
            h = h * w
    return w, h


def test_magnitudes_are_shown_unasked_when_they_spread_far() -> None:
    assert scale_of(vanishing(2), None) is None
    assert (scale_of(vanishing(8), None) or ())[:4] == (-7, 0, False, False)
    assert scale_of(vanishing(8), False) is None
    assert (scale_of(vanishing(2), True) or ())[:2] == (-1, 0)
    assert (scale_of(vanishing(1), True) or ())[:2] == (0, 1)


def test_without_gradients_there_is_no_scale() -> None:
    build = GraphBuilder("nothing ran")
    seed = build.node("seed", "backward", "seed", statistics=scalar(1))
    node = build.node("op", "backward", "TanhBackward0", order=0)
    build.edge("gradient", seed, node, statistics=scalar(1))
    assert scale_of(build.graph(), True) is None


@given(st.floats(1e-30, 1e30), st.floats(1e-30, 1e30))
def test_larger_gradients_never_get_smaller_signs(one: float, other: float) -> None:
    scale = Scale(-9, 3)
    small, large = sorted((one, other))
    assert 1 <= scale.step(small) <= scale.step(large) <= len(SIGNS)
    assert shade(scale.step(small)) <= shade(scale.step(large)) <= 4


@pytest.mark.parametrize("rms", [0.0, float("nan"), float("inf")])
def test_what_is_on_no_log_scale_has_no_sign(rms: float) -> None:
    assert Scale(-9, 3).step(rms) == 0


@pytest.mark.parametrize("format", ["svg", "dot", "mermaid", "txt"])
def test_the_scale_is_printed_and_every_number_carries_its_sign(format: str) -> None:
    text = gradstep.render(vanishing(8), format=format, view="backward").text
    if format != "mermaid":  # which has no captions
        assert "rms ▄ 1e−7 … ▄▄▄▄ 1" in text
    if format != "txt":  # which has no labels
        assert "1e−7 ▄" in text
        assert "1 ▄▄▄▄" in text
    assert (
        "▄"
        not in gradstep.render(vanishing(8), format=format, view="backward", magnitude=False).text
    )


def test_shades_come_with_widths() -> None:
    root = ElementTree.fromstring(gradstep.render(vanishing(8), view="backward").text)
    classes = {g.get("class") for g in root.iter("{http://www.w3.org/2000/svg}g")}
    assert {f"edge gradient g{number}" for number in (1, 2, 3, 4)} <= classes
    dot = gradstep.to_graphviz(vanishing(8), view="backward").source
    assert all(f"penwidth={width}" in dot for width in ("1.0", "1.6", "2.4", "3.4"))


def test_not_yet_undefined_and_zero_are_three_marks() -> None:
    x, w = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    y = torch.sin(x) * 0 + torch.exp(w)
    graph = observed(y, {"x": x, "w": w}, stop=2)
    picture = make_picture(graph, "backward", leaves=True)
    labels = {picture.boxes[line.target].title: line for line in picture.lines}
    assert labels["x.grad"].label == "not yet"
    assert labels["x.grad"].waits
    assert not labels["AddBackward0"].waits
    rights = {box.title: box.right for box in picture.boxes}
    assert rights["w.grad"] == rights["x.grad"] == "not yet"
    done = make_picture(observed(y, {"x": x, "w": w}), "backward", leaves=True)
    assert {line.label for line in done.lines if line.waits} == set()
    assert next(b.right for b in done.boxes if b.title == "x.grad") == "0 ○"


def test_before_a_pass_nothing_waits() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    picture = make_picture(observed(torch.sin(x), {"x": x}, stop=0), "backward")
    assert not any(line.waits or "not yet" in line.label for line in picture.lines)


def test_each_use_of_a_shared_parameter_shows_what_it_contributes() -> None:
    w, h = shared_weight()
    picture = make_picture(observed(h, {"w": w}), "backward")
    said = [chip.right for box in picture.boxes for chip in box.chips]
    total = 8 * 0.5 * 2.0**7
    assert said == [f"{total / 8:g}, sum {total:g} · used 8 times"] * 8


def test_a_session_is_drawn_as_far_as_it_is() -> None:
    w, h = shared_weight()
    session = Session(h, names={"w": w})
    session.do("next 3")
    text = gradstep.render(session, view="backward", full=True).text
    assert "#4 runs next" in text
    assert text.count('class="ring"') == 1
    assert text.count("not yet") > 4
    session.do("continue")
    text = gradstep.render(session, view="backward", full=True).text
    assert "all has run" in text
    assert "not yet" not in text
    assert 'class="ring"' not in text


def test_in_a_folded_picture_the_ring_is_around_the_group() -> None:
    w, h = shared_weight()
    session = Session(h, names={"w": w})
    session.do("next 3")
    for boxes in (3, 60):
        text = gradstep.render(session, view="backward", max_boxes=boxes).text
        assert text.count('class="ring"') == 1


def test_the_film_of_a_session_ends_where_it_stands() -> None:
    w, h = shared_weight()
    session = Session(h, names={"w": w})
    session.do("next 2")
    headlines = [shot.headline for shot in gradstep.film(session, view="backward").shots]
    assert [headline.partition(" of")[0] for headline in headlines[1:]] == ["#1", "#2"]
    assert session.position == 2


def test_the_legend_explains_what_occurs_and_nothing_else() -> None:
    def words(graph: Graph, **options: object) -> str:
        text = gradstep.render(graph, legend=True, **options).text  # type: ignore[arg-type]
        return text[text.index('class="legend"') :]

    plain = words(sample_graphs.chain(3), view="forward")
    assert "forward op" in plain
    assert "backward node" not in plain
    assert "saved for the backward pass" in words(sample_graphs.quadratic())
    assert "rms 0.02 … 1" in words(vanishing(8), view="backward")
    assert "legend" not in gradstep.render(sample_graphs.quadratic()).text


@pytest.mark.parametrize("format", ["dot", "mermaid", "txt"])
def test_formats_without_a_drawing_have_a_legend_too(format: str) -> None:
    graph = sample_graphs.residual(40)
    plain = gradstep.render(graph, format=format).text
    text = gradstep.render(graph, format=format, legend=True).text
    assert "legend" not in plain
    assert "legend" in text
    said = "the order in which" if format == "txt" else "backward node, #1 runs first"
    assert said in text.replace("#35;", "#")
    assert text.startswith(plain[:-20])


def test_a_text_explains_the_marks_that_occur_and_no_others() -> None:
    def marks(graph: Graph, **options: object) -> list[str]:
        text = gradstep.render(graph, format="txt", legend=True, **options).text  # type: ignore[arg-type]
        return [line.split()[0] for line in text.partition("\nlegend\n")[2].splitlines()]

    assert marks(sample_graphs.chain(3), view="forward") == ["←"]
    assert marks(sample_graphs.quadratic()) == ["←", "⋯", "#1"]
    assert marks(vanishing(8), view="backward") == ["←", "#1", "▄▄▄▄"]


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz executable here")
def test_the_legend_of_a_dot_text_renders() -> None:
    text = gradstep.to_graphviz(sample_graphs.residual(40), legend=True).source
    drawn = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True)
    assert drawn.stderr == ""
    assert "several that are alike" in drawn.stdout


def test_a_gradient_of_zero_is_below_the_scale_not_beside_it() -> None:
    with trace():
        x = torch.tensor([-1.0, -2.0], requires_grad=True)
        y = (torch.relu(x) * 1e-3).sum() * 1000
    names = Names({"x": x, "y": y})
    with ObservedPass(make_call(y, None, None, False), names) as seen:
        seen.run()
        graph = seen.graph("both")
    picture = make_picture(graph, scale=scale_of(graph, True))
    dead = [line for line in picture.lines if line.kind == "gradient" and "rms 0" in line.label]
    assert dead
    assert {line.step for line in dead} == {ZERO}
    svg = gradstep.render(graph, magnitude=True, legend=True).text
    assert svg.count('class="edge gradient g0"') == len(dead) + 1
    assert "a gradient of 0" in svg
    assert theme.LIGHT["mute"] in gradstep.render(graph, format="dot", magnitude=True).text


def test_the_uses_of_a_shared_weight_are_told_once() -> None:
    with trace():
        w, h = torch.ones(2, requires_grad=True), torch.ones(2)
        for _ in range(8):
            h = h * w
        loss = h.sum()
    with ObservedPass(make_call(loss, None, None, False), Names({"w": w})) as seen:
        seen.run()
        graph = seen.graph("both")

    def said(view: str) -> set[str]:
        boxes = make_picture(graph, view).boxes  # type: ignore[arg-type]
        return {chip.right for box in boxes for chip in box.chips if chip.name == "w.grad"}

    assert said("both") == {"rms 1, sum rms 8"}
    assert said("backward") == {"rms 1, sum rms 8 · used 8 times"}


def test_a_few_outliers_do_not_set_the_scale() -> None:
    build = GraphBuilder()
    before = -1
    for number in range(40):
        rms = 1.0 if number == 0 else 1e-12 if number == 39 else 1e-4 * 1.2**number
        known = Statistics(4, rms, -rms, rms, 0, 0, 0)
        node = build.node("op", "backward", "MulBackward0", order=number, statistics=known)
        if before >= 0:
            build.edge("gradient", before, node, shape=(4,), statistics=known)
        before = node
    scale = scale_of(build.graph(), True)
    assert scale is not None
    assert scale.text == "rms ▄ ≤ 1e−4 … ▄▄▄▄ 0.1"
    assert scale.step(1e-12) == 1
