"""What must hold for every picture that our own layout makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_core as torch
from autograd_core import nn
from gradstep.console.session import Session
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.folding import fold
from gradstep.graph.model import Graph, Half
from gradstep_viz import theme
from gradstep_viz.layout import lay_out
from gradstep_viz.layout.compaction import compact
from gradstep_viz.layout.crossings import order
from gradstep_viz.layout.graph import merge_partners
from gradstep_viz.layout.grid import BEND_WIDTH, position_columns
from gradstep_viz.layout.labels import Channel, Piece
from gradstep_viz.layout.layers import MOST_LANES, make_layers, rank
from gradstep_viz.layout.paths import soft
from gradstep_viz.layout.saved import row_ends
from gradstep_viz.layout.wrapping import WIDE
from gradstep_viz.level_of_detail import Composer, folding_of
from gradstep_viz.options import RenderOptions
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.geometry import Rectangle, Route
from gradstep_viz.picture.model import VIEWS, View
from gradstep_viz.picture.records import Records
from gradstep_viz.picture.subject import graph_of_session
from tests.viz import picture_programs, sample_graphs, sample_programs
from tests.viz.laws import (
    check,
    check_labels,
    check_saved_lines,
    cut_labels,
    inside,
    label_places,
    points_of,
)
from tests.viz.sample_programs import graph_of

SAMPLES = [
    sample_graphs.quadratic(),
    sample_graphs.mlp(),
    sample_graphs.diamond(),
    sample_graphs.shared(),
    sample_graphs.residual(5, 2),
]


@st.composite
def twins(draw: st.DrawFn) -> Graph:
    """A random forward graph with leaves, skips and doubled lines, and its backward mirror."""
    t = sample_graphs.Twin("random")
    nodes = [t.leaf(f"w{i}", (i + 1,)) for i in range(draw(st.integers(1, 7)))]
    for _ in range(draw(st.integers(1, 25))):
        inputs = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=3))
        keep = inputs[: draw(st.integers(0, len(inputs)))]
        name = draw(st.sampled_from(["mul", "exp", "a_rather_long_name_of_an_op"]))
        nodes.append(t.op(name, *inputs, shape=(2, 3), keep=keep))
    return t.finish(nodes[-1])


@st.composite
def any_graphs(draw: st.DrawFn) -> Graph:
    """Graphs no capture makes: cycles, loops, isolated nodes, lines in any direction."""
    build = GraphBuilder("anything")
    count = draw(st.integers(1, 12))
    halves = [draw(st.sampled_from(["forward", "backward"])) for _ in range(count)]
    for half in halves:
        build.node("op", half, "op")
    ends = st.integers(0, count - 1)
    for source, target in draw(st.lists(st.tuples(ends, ends), max_size=30)):
        if halves[source] == halves[target]:
            kind = "value" if halves[source] == "forward" else "gradient"
            build.edge(kind, source, target, shape=(1,))
        elif halves[source] == "forward":
            build.edge("saved", source, target, label="x", nbytes=4)
    return build.graph()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("graph", SAMPLES, ids=lambda graph: graph.title)
@pytest.mark.parametrize("view", VIEWS)
def test_samples_keep_the_laws(graph: Graph, view: View) -> None:
    picture = make_picture(graph, view)
    check(picture, lay_out(picture))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("graph", SAMPLES, ids=lambda graph: graph.title)
@pytest.mark.parametrize("view", VIEWS)
def test_samples_keep_the_laws_from_left_to_right(graph: Graph, view: View) -> None:
    picture = make_picture(graph, view)._replace(rankdir="LR")
    layout = lay_out(picture)
    check(picture, layout)
    check_labels(picture, layout)
    for line in picture.lines:
        if line.kind != "saved" and line.source != line.target:
            start, end = layout.places[line.source], layout.places[line.target]
            assert (start.x < end.x) == (line.kind == "value"), "a line that runs the other way"


@settings(max_examples=settings().max_examples // 2)
@given(twins(), st.sampled_from(VIEWS))
def test_random_graphs_keep_the_laws_from_left_to_right(graph: Graph, view: View) -> None:
    picture = make_picture(graph, view)._replace(rankdir="LR")
    layout = lay_out(picture)
    check(picture, layout)
    check_labels(picture, layout)


@given(twins(), st.sampled_from([300, 700, 1500]))
def test_wrapped_graphs_keep_the_laws(graph: Graph, wide: int) -> None:
    picture = make_picture(graph)
    check(picture, lay_out(picture, pages=1, wide=wide))


@given(twins(), st.sampled_from(VIEWS), st.sampled_from([None, True, False]))
def test_random_graphs_keep_the_laws(graph: Graph, view: View, leaves: bool | None) -> None:
    picture = make_picture(graph, view, leaves=leaves)
    check(picture, lay_out(picture))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("program", sample_programs.ALL, ids=lambda program: program.__name__)
def test_programs_keep_the_laws(program: Callable[[], sample_programs.Program]) -> None:
    picture = make_picture(fold(graph_of(program), max_boxes=40))
    layout = lay_out(picture)
    check(picture, layout)
    check_labels(picture, layout)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("engine", ["core", pytest.param("pytorch", marks=pytest.mark.torch)])
@pytest.mark.parametrize("program", picture_programs.EACH)
def test_pictures_of_what_people_write_keep_the_laws(program: str, engine: str) -> None:
    folding = folding_of(picture_programs.graph_of(program, engine), "both")
    composed = Composer(folding).compose_for_a_screen(RenderOptions())
    check(composed.picture, composed.layout or lay_out(composed.picture))


def test_a_half_reaches_past_its_outermost_lanes() -> None:
    build = GraphBuilder("lanes")
    chain = [build.node("op", "forward", "op") for _ in range(6)]
    for source, target in [*((chain[0], each) for each in chain[:1:-1]), *pairwise(chain)]:
        build.edge("value", source, target)
    graph = merge_partners(make_picture(build.graph(), "forward"))
    grid = position_columns(graph, order(rank(graph, WIDE)), {})
    columns = compact(grid)
    lanes = [columns.x["forward"][bend] for way in grid.bends if way for bend in way]
    assert min(lanes) < min(columns.left) < max(columns.right) < max(lanes)
    assert columns.extent["forward"] == (min(lanes) - BEND_WIDTH, max(lanes) + BEND_WIDTH)


@given(any_graphs())
def test_even_cycles_and_loops_keep_the_laws(graph: Graph) -> None:
    picture = make_picture(graph, "both")
    check(picture, lay_out(picture))


def test_the_check_can_fail() -> None:
    picture = make_picture(sample_graphs.quadratic(), "forward")
    layout = lay_out(picture)
    first, _, *others = layout.places
    shifted = Records.of(Rectangle, [first, first._replace(x=first.x + 5), *others])
    with pytest.raises(AssertionError, match="overlap"):
        check(picture, layout._replace(places=shifted))


def test_saved_lines_that_share_a_stretch_are_noticed() -> None:
    picture = make_picture(sample_graphs.quadratic(), "both")
    layout = lay_out(picture)
    saved = [line for line, data in enumerate(picture.lines) if data.kind == "saved"]
    one, other = (layout.routes[line] for line in saved)
    (x, y), end = one.start, other.end
    astray = Route(
        (x, y), ((x, one.end[1]), (end[0] - 60, one.end[1]), (end[0] - 60, end[1])), None
    )
    astray = astray._replace(segments=(*astray.segments, end))
    routes = list(layout.routes)
    routes[saved[1]] = astray
    with pytest.raises(AssertionError, match="share a stretch"):
        check_saved_lines(picture, layout._replace(routes=Records.of(Route, routes)))


def test_a_line_through_a_box_is_noticed() -> None:
    picture = make_picture(sample_graphs.chain(3), "forward")
    layout = lay_out(picture)
    (x, y), target = layout.routes[0].start, layout.routes[0].end
    astray = Route((x, y), ((x, y + 999), target), None)
    with pytest.raises(AssertionError):
        check(picture, layout._replace(routes=Records.of(Route, [astray, *layout.routes[1:]])))


@given(twins())
def test_an_op_and_its_backward_node_stand_in_one_row(graph: Graph) -> None:
    picture = make_picture(graph, "both")
    places = lay_out(picture).places
    for box, place in zip(picture.boxes, places, strict=True):
        if box.pair is not None:
            other = places[box.pair]
            middle, other_middle = place.y + place.height / 2, other.y + other.height / 2
            assert abs(middle - other_middle) <= 1
            assert (place.x < other.x) == (box.half == "forward")


def test_values_run_down_and_gradients_run_up() -> None:
    picture = make_picture(sample_graphs.mlp(), "both")
    layout = lay_out(picture)
    for line, route in zip(picture.lines, layout.routes, strict=True):
        if line.kind == "value":
            assert route.start[1] < route.end[1]
        elif line.kind == "gradient":
            assert route.start[1] > route.end[1]


def test_a_spine_is_straight_where_skips_join_it() -> None:
    picture = make_picture(sample_graphs.residual(4, 2), "forward")
    layout = lay_out(picture)
    pages = 1 + sum(lower.y < upper.y for upper, lower in pairwise(layout.places))
    assert len({place.center for place in layout.places}) == pages
    assert len(layout.places) / pages > 4


@settings(max_examples=settings().max_examples // 2)
@given(twins(), st.sampled_from(VIEWS), st.sampled_from([None, True, False]))
def test_labels_keep_off_boxes_and_each_other(
    graph: Graph, view: View, leaves: bool | None
) -> None:
    picture = make_picture(graph, view, leaves=leaves)
    check_labels(picture, lay_out(picture))


@pytest.mark.parametrize("view", ["forward", "backward"])
def test_a_line_round_a_block_leaves_room_for_the_labels_it_passes(view: Half) -> None:
    before, wide, narrow = nn.Linear(4, 16), nn.Linear(16, 64), nn.Linear(64, 16)
    h = before(torch.ones(8, 4))
    session = Session((h + narrow(torch.relu(wide(h.tanh())))).pow(2).mean())
    session.do("continue")  # now the labels have numbers, and are wider than the boxes
    picture = make_picture(fold(graph_of_session(session, view), (view,)), view)
    layout = lay_out(picture)
    labels = label_places(picture, layout)
    assert len(labels) == len([line for line in picture.lines if line.label])
    for route in layout.routes:
        for point in points_of(route):
            assert not any(inside(label, point) for label in labels)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("graph", SAMPLES, ids=lambda graph: graph.title)
@pytest.mark.parametrize("view", VIEWS)
def test_every_label_of_the_samples_finds_a_place(graph: Graph, view: View) -> None:
    picture = make_picture(graph, view)
    labelled = [line for line in picture.lines if line.label]
    assert len(label_places(picture, lay_out(picture))) == len(labelled)


def test_labels_get_room_until_no_line_cuts_one() -> None:
    graph = fold(picture_programs.graph_of("small_gpt", "core"))
    picture = make_picture(graph, "backward")  # whose labels need more room twice
    assert cut_labels(picture, lay_out(picture)) == []


@pytest.mark.parametrize("share", [0, 0.1, 0.25, 0.5, 0.7, 1])
def test_labels_keep_off_a_curve_where_it_is_drawn(share: float) -> None:
    _, (curve,) = soft([(30, 10), (110, 90)])
    (_, first, x, second, _, _), rest = curve, 1 - share
    y = 10 * rest**3 + 3 * first * share * rest**2 + 3 * second * share**2 * rest + 90 * share**3
    drawn = 30 * rest**3 + 3 * 30 * share * rest**2 + 3 * x * share**2 * rest + 110 * share**3
    assert Channel(10, 10, 90).x_at(Piece(0, 30, 110), y) == pytest.approx(drawn, abs=0.2)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25))
def test_ranks_go_down_along_every_line_of_an_acyclic_graph(pairs: list[tuple[int, int]]) -> None:
    arcs = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    layers = order(make_layers(10, arcs))
    for upper, lower in arcs:
        assert layers.ranks[upper] < layers.ranks[lower]
    for row, members in enumerate(layers.rows):
        assert all(layers.ranks[vertex] == row for vertex in members)
    assert sum(map(len, layers.rows)) == len(layers.ranks)


@pytest.mark.parametrize("at_top", [True, False])
def test_the_shortest_of_many_long_lines_at_a_vertex_get_lanes(at_top: bool) -> None:
    hub, others = (0, range(2, 31)) if at_top else (30, range(29))
    long = [(hub, other) if at_top else (other, hub) for other in others]
    layers = make_layers(31, [*pairwise(range(31)), *long])
    with_lanes = [arc for arc in long if arc in layers.chains]
    shortest = sorted(long, key=lambda arc: arc[1] - arc[0])[:MOST_LANES]
    assert sorted(with_lanes) == sorted(shortest)


def test_the_bends_of_long_lines_stay_in_proportion_to_the_picture() -> None:
    spans = [506, 1000, 1000, 1000, 1000, 1000, 1001]  # 5,500 bends, and those of one more
    long = [(vertex, vertex + span) for vertex, span in enumerate(spans)]
    layers = make_layers(1500, [*pairwise(range(1500)), *long])
    assert [arc for arc in long if len(layers.chains.get(arc, ()))] == long[:-1]


@pytest.mark.parametrize(
    ("half", "lane", "ends"),
    [("backward", 90.0, ({}, {0: 0})), ("backward", 110.0, ({0: 1}, {0: 0})),
     ("forward", 10.0, ({0: 1}, {})), ("forward", -10.0, ({0: 1}, {0: 0}))],
)  # fmt: skip
def test_no_box_is_the_last_of_its_row_where_a_lane_is_outside(
    half: Half, lane: float, ends: tuple[dict[int, int], dict[int, int]]
) -> None:
    grid: Any = SimpleNamespace(
        halves=["forward", "backward"], sources=[int(half == "backward")], bends=[range(2, 3)],
        vertex=[0, 1], rows=[0, 0], x=[0.0, 100.0, lane], layers=SimpleNamespace(ranks=[0, 0, 0]),
    )  # fmt: skip
    assert row_ends(grid) == ends


@pytest.mark.parametrize("length", [20_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_deep_chain_is_laid_out(length: int) -> None:
    picture = make_picture(sample_graphs.chain(length), "forward")
    layout = lay_out(picture)
    columns = Counter(place.center for place in layout.places)
    assert 0.5 < layout.width / layout.height < 2
    assert max(columns.values()) < 3 * min(columns.values())
    assert len(columns) * max(columns.values()) < 2 * length


def test_a_long_chain_goes_on_in_the_next_column() -> None:
    picture = make_picture(sample_graphs.chain(40), "forward")
    layout = lay_out(picture)
    assert layout.width / layout.height > 1 / 4
    check(picture, layout)
    following = pairwise(layout.places)
    turns = [(one, other) for one, other in following if other.y < one.y]
    assert len(turns) == len({place.x for place in layout.places}) - 1 > 0
    for one, other in turns:
        assert other.x > one.right, "the next column is on the right"


def test_the_last_page_is_as_wide_as_what_is_on_it() -> None:
    graph = graph_of(sample_programs.transformer)
    picture = make_picture(fold(graph, max_boxes=40), "both")
    layout = lay_out(picture)
    below = zip(picture.boxes, layout.places, strict=True)
    tops = [place.y for box, place in below if box.half == "forward"]
    assert any(lower < upper for upper, lower in pairwise(tops)), "it has one page only"
    texts = [place.right for place in label_places(picture, layout)]
    lines = [x for route in layout.routes for x, _ in points_of(route)]
    reach = max(*texts, *lines, *(place.right for place in layout.places))
    assert layout.width - reach < 2 * theme.MARGIN


def test_a_picture_is_not_paged_where_many_lines_would_turn() -> None:
    t = sample_graphs.Twin("skips")
    made = [t.leaf("x")]
    for _ in range(20):
        made.append(t.op("exp", made[-1]))
    for skip in reversed(made[:-1]):
        made.append(t.op("add", made[-1], skip))
    picture = make_picture(t.finish(made[-1]), "forward")
    layout = lay_out(picture)
    check(picture, layout)
    assert all(a.y < b.y for a, b in pairwise(layout.places[1:]))


def test_branches_that_are_too_many_for_one_row_stand_in_bands() -> None:
    t = sample_graphs.Twin("branches")
    x = t.leaf("x", (2,))
    ends = [t.op("tanh", t.op("mul", x, x, shape=(2,)), shape=(2,)) for _ in range(60)]
    picture = make_picture(t.finish(t.op("stack", *ends, shape=(60, 2))), "backward")
    layout = lay_out(picture)
    check(picture, layout)
    assert layout.width < 3 * layout.height


def test_many_lines_into_one_late_box_stay_linear() -> None:
    build = GraphBuilder("stack")
    steps = [build.node("op", "forward", "step") for _ in range(1500)]
    for one, other in pairwise(steps):
        build.edge("value", one, other)
    stack = build.node("op", "forward", "stack")
    for step in steps:
        build.edge("value", step, stack)
    picture = make_picture(build.graph(), "forward")
    layout = lay_out(picture)
    assert layout.width < 1500


@pytest.mark.sampled(1)
@pytest.mark.parametrize("view", VIEWS)
def test_lines_run_the_same_way_when_there_are_many(
    view: View, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "gradstep_viz.layout.MOST_ROUNDS", 0
    )  # more room is made for few lines only
    for graph in (sample_graphs.residual(12), sample_graphs.quadratic(), sample_graphs.shared()):
        picture = make_picture(graph, view)
        few = lay_out(picture)
        with monkeypatch.context() as patch:
            patch.setattr("gradstep_viz.layout.routes.MANY", 0)
            patch.setattr("gradstep_viz.layout.labels.MANY", 0)
            many = lay_out(picture)
        assert [route[:2] for route in many.routes] == [route[:2] for route in few.routes]
        check(picture, many)
