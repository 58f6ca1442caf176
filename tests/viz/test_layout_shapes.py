"""The kinds of graphs that people draw, and the odd ones that break layouts."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

import autograd_core as torch
from autograd_core import nn
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Graph
from gradstep_viz.layout import lay_out
from gradstep_viz.layout.pages import choose_pages
from gradstep_viz.level_of_detail import LEAST_SCALE, Composed, Composer, folding_of
from gradstep_viz.options import RenderOptions
from gradstep_viz.output.svg import write_svg
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.geometry import Layout
from gradstep_viz.picture.model import VIEWS, View
from tests.viz import picture_programs, sample_graphs
from tests.viz.laws import check, check_labels, jumps_of
from tests.viz.sample_graphs import Twin
from tests.viz.sample_programs import graph_of


def recurrent(steps: int) -> Graph:
    """A cell with two states and two weights that every step uses."""
    t = Twin(f"recurrent net of {steps} steps")
    w, u = t.leaf("cell.w", (8, 8)), t.leaf("cell.u", (8, 8))
    h = c = t.leaf("start", (2, 8), "constant")
    for _ in range(steps):
        gate = t.op("add", t.op("mm", h, w, keep=(h, w)), t.op("mm", c, u, keep=(c, u)))
        forget, write = t.op("sigmoid", gate, keep=(gate,)), t.op("tanh", gate)
        c = t.op("add", t.op("mul", c, forget, keep=(c, forget)), write)
        h = t.op("mul", t.op("tanh", c), forget)
    return t.finish(t.op("sum", h))


def skips(depth: int) -> Graph:
    """A U-net: the way up meets every stage of the way down."""
    t = Twin(f"skip net of depth {depth}")
    h, stages = t.leaf("image", (4, 4), "constant"), []
    for stage in range(depth):
        w = t.leaf(f"down.{stage}", (4, 4))
        h = t.op("relu", t.op("mm", h, w, keep=(h, w)))
        stages.append(h)
    for stage, skip in enumerate(reversed(stages)):
        w = t.leaf(f"up.{stage}", (4, 4))
        h = t.op("relu", t.op("mm", t.op("cat", h, skip), w, keep=(w,)))
    return t.finish(h)


def fan(width: int) -> Graph:
    """One value used many times, and all the results in one op."""
    t = Twin(f"fan of {width}")
    x = t.leaf("x", (3,))
    return t.finish(t.op("stack", *[t.op("exp", x) for _ in range(width)]))


def apart() -> Graph:
    """Two programs that have nothing to do with each other, and a node of its own."""
    build = GraphBuilder("apart")
    for name in ("one", "two"):
        x = build.node("leaf", "forward", name, shape=(2,))
        for _ in range(3):
            y = build.node("op", "forward", "sin", shape=(2,))
            build.edge("value", x, y, shape=(2,))
            x = y
        build.edge("value", x, build.node("output", "forward", f"out {name}"))
    build.node("op", "forward", "alone")
    return build.graph()


def doubled() -> Graph:
    """The same value as both operands, again and again."""
    t = Twin("doubled")
    x = t.leaf("x", (3,))
    for _ in range(4):
        x = t.op("mul", x, x, keep=(x,))
    return t.finish(x)


def single() -> Graph:
    build = GraphBuilder("one node")
    build.node("op", "forward", "alone")
    build.node("op", "backward", "AloneBackward0")
    return build.graph()


SHAPES = [
    recurrent(4), recurrent(12), skips(3), skips(6), fan(2), fan(24), apart(), doubled(), single(),
    sample_graphs.residual(1), sample_graphs.residual(6, 2), sample_graphs.chain(50),
]  # fmt: skip


@pytest.mark.sampled(14)
@pytest.mark.parametrize("graph", SHAPES, ids=lambda graph: graph.title)
@pytest.mark.parametrize("view", VIEWS)
def test_every_shape_keeps_the_laws(graph: Graph, view: View) -> None:
    picture = make_picture(graph, view)
    layout = lay_out(picture)
    check(picture, layout)
    check_labels(picture, layout)
    assert write_svg(picture, layout) == write_svg(picture, lay_out(picture))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "graph",
    [sample_graphs.chain(30), sample_graphs.chain(200), sample_graphs.residual(12)],
    ids=lambda graph: f"{graph.title} {len(graph)}",
)
def test_long_graphs_with_a_spine_are_no_strips(graph: Graph, view: View) -> None:
    picture = make_picture(graph, view)
    if not picture.boxes:
        return
    layout = lay_out(picture)
    assert 1 / 4 < layout.width / layout.height < 4


def test_a_tall_picture_can_stay_in_one_column() -> None:
    picture = make_picture(sample_graphs.residual(12), "both")
    paged, whole = lay_out(picture), lay_out(picture, pages=1)
    check(picture, whole)
    check_labels(picture, whole)
    assert whole.width < paged.width
    assert whole.height > paged.height


def test_many_branches_are_no_stair() -> None:
    """Each branch is added one row further down, so that straight ones would stand in a stair."""
    build = GraphBuilder("branches")
    total = build.node("op", "forward", "sin", shape=(2,))
    for _ in range(200):
        made = build.node("op", "forward", "mul", shape=(2,))
        branch = build.node("op", "forward", "sin", shape=(2,))
        added = build.node("op", "forward", "add", shape=(2,))
        build.edge("value", made, branch)
        build.edge("value", total, added)
        build.edge("value", branch, added, input_nr=1)
        total = added
    picture = make_picture(build.graph(), "forward")
    layout = lay_out(picture, pages=1)
    check(picture, layout)
    assert layout.width < 1000


def test_branches_are_wrapped_for_a_width() -> None:
    """Ten functions of one input, side by side in a default picture, one below the other here."""
    build = GraphBuilder("functions")
    x = build.node("leaf", "forward", "x", shape=(2,))
    ends = []
    for _ in range(10):
        made, end = (build.node("op", "forward", name, shape=(2,)) for name in ("sin", "sum"))
        build.edge("value", x, made)
        build.edge("value", made, end)
        ends.append(end)
    total = ends[0]
    for end in ends[1:]:
        added = build.node("op", "forward", "add")
        build.edge("value", total, added)
        build.edge("value", end, added, input_nr=1)
        total = added
    picture = make_picture(build.graph(), "forward")
    narrow = lay_out(picture, pages=1, wide=500)
    check(picture, narrow)
    check_labels(picture, narrow)
    assert narrow.width < 0.8 * lay_out(picture, pages=1).width
    options = RenderOptions(view="forward", width="600")
    composed = Composer(folding_of(build.graph(), "forward")).compose_for_a_screen(options)
    assert composed.layout is not None
    assert composed.layout.width <= 600 / LEAST_SCALE


def test_a_half_closes_the_gaps_that_only_the_other_half_needs() -> None:
    """The forward half may hold much that has no gradient, the backward half little."""
    build = GraphBuilder("unequal halves")
    constants = [build.node("constant", "forward", f"c{i}", shape=(2,)) for i in range(9)]
    x = build.node("leaf", "forward", "x", shape=(2,))
    y = build.node("op", "forward", "sum", shape=(2,))
    for nr, source in enumerate([x, *constants]):
        build.edge("value", source, y, input_nr=nr)
    dy = build.node("op", "backward", "SumBackward0", order=0)
    dx = build.node("leaf", "backward", "AccumulateGrad", order=1)
    build.edge("gradient", dy, dx)
    build.pair(x, dx)
    build.pair(y, dy)
    picture = make_picture(build.graph(), "both", leaves=True)
    layout = lay_out(picture)
    check(picture, layout)
    forward = [place for box, place in zip(picture.boxes, layout.places) if box.half == "forward"]
    backward = [place for box, place in zip(picture.boxes, layout.places) if box.half == "backward"]
    assert max(place.right for place in forward) < min(place.x for place in backward)
    width = max(place.right for place in backward) - min(place.x for place in backward)
    assert width <= 2 * 180 + 64


def test_for_a_width_boxes_get_narrow_then_halves_stand_one_below_the_other() -> None:
    graph = picture_programs.graph_of("small_gpt", "core")
    whole = drawn_at(graph, "3000")
    narrow = drawn_at(graph, f"{whole.layout.width * 0.6:.0f}")
    low = drawn_at(graph, f"{whole.layout.width * 0.4:.0f}")
    boxes = len(whole.composed.picture.boxes)
    for one in (narrow, low):
        assert len(one.composed.picture.boxes) == boxes
        assert one.composed.notes == ()
    kinds = [set(one.composed.picture.lines.column("kind")) for one in (narrow, low)]
    assert ["saved" in known for known in kinds] == [True, False]
    halves = low.composed.picture.boxes.column("half")
    bottoms = dict.fromkeys(("forward", "backward"), 0.0)
    tops = dict.fromkeys(bottoms, 1e9)
    for half, place in zip(halves, low.layout.places, strict=True):
        bottoms[half] = max(bottoms[half], place.bottom)
        tops[half] = min(tops[half], place.y)
    assert bottoms["forward"] < tops["backward"]


class Drawn(NamedTuple):
    composed: Composed
    layout: Layout


def drawn_at(graph: Graph, width: str) -> Drawn:
    options = RenderOptions(view="both", width=width)
    composed = Composer(folding_of(graph, "both")).compose_for_a_screen(options)
    return Drawn(composed, composed.layout or lay_out(composed.picture))


def test_a_page_ends_between_two_blocks_not_inside_one() -> None:
    pitches, passing = [100.0] * 40, [1] * 40
    middle = choose_pages(pitches, 2500, 2, passing).last_rows
    assert middle == [19]
    block = frozenset(range(12, 27))  # the rows 12 to 27
    assert choose_pages(pitches, 2500, 2, passing, lambda: block).last_rows == [27]
    assert choose_pages(pitches, 2500, 2, passing, lambda: frozenset(range(39))).last_rows == []


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.outer(self.inner(x).tanh()).tanh()


@pytest.mark.parametrize("view", VIEWS)
def test_a_line_between_pages_ends_in_numbered_ports_between_blocks(view: View) -> None:
    model = nn.Sequential(*(Block() for _ in range(9)))
    graph = graph_of(lambda: (model(torch.ones(2, 3)).sum(), model))
    picture = (
        Composer(folding_of(graph, view)).compose(RenderOptions(view=view, max_boxes=150)).picture
    )
    layout = lay_out(picture)
    check(picture, layout)
    check_labels(picture, layout)
    blocks = picture.boxes.column("block")
    turned = [line for line, route in zip(picture.lines, layout.routes) if jumps_of(route)]
    between = {(blocks[line.source], blocks[line.target]) for line in turned}
    assert between, "it has one page only"
    assert all(one != other for one, other in between), "a block is torn"
    svg = write_svg(picture, layout).decode()
    targets = re.findall(r'class="port \w+" href="#([^"]+)"', svg)
    assert len(targets) == len(layout.ports) >= 2 * len({line.kind for line in turned})
    assert all(f'id="{target}"' in svg for target in targets)
