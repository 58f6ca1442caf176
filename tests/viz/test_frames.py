"""Frames: around each open one of several things alike, what belongs to it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import pytest

from gradstep.graph.folding.frames import is_inside
from gradstep.graph.model import Graph
from gradstep_viz.layout import lay_out
from gradstep_viz.level_of_detail import Composed, Composer, folding_of
from gradstep_viz.options import RenderOptions
from gradstep_viz.output.svg.frames import frame_places
from gradstep_viz.output.svg.lines import label_place
from gradstep_viz.picture.geometry import Layout, Rectangle
from gradstep_viz.picture.model import View
from tests.viz import picture_programs
from tests.viz.picture_programs import graph_of

APART = 8
"""As many pixels, at least, as a side of a frame is from a line beside it."""
BOTH_ENGINES = ["core", pytest.param("pytorch", marks=pytest.mark.torch)]
VIEWS: tuple[View, ...] = ("both", "forward", "backward")


def composed(graph: Graph, view: View = "both", **options: object) -> Composed:
    chosen = RenderOptions(view=view, **options)  # type: ignore[arg-type]
    return Composer(folding_of(graph, view)).compose_for_a_screen(chosen)


def check_frames(made: Composed) -> set[str]:
    """The law of frames; returns the names of those of modules."""
    picture, graph = made.picture, made.graph
    assert graph is not None
    layout: Layout = made.layout or lay_out(picture)
    places: dict[str, list[Rectangle]] = {}
    drawn = list(frame_places(picture, layout))
    for (frame, around), (other, beside) in combinations(drawn, 2):
        if not set(frame.boxes) & set(other.boxes):
            crossing = [pair for pair in product(around, beside) if _overlap(*pair)]
            assert not crossing, (frame.label, other.label)
    for frame, around in drawn:
        places.setdefault(frame.label, []).extend(around)
        for one in around:
            near = [x for x in _lanes(made, layout, one) if _to_a_side(one, x) < APART]
            assert not near, f"a line along a side of {frame.label}, at {near}"
        for index in range(len(picture.boxes)):
            within = any(_holds(one, layout.places[index]) for one in around)
            assert within == (index in frame.boxes), (frame.label, picture.boxes[index].title)
    modules = set()
    for label, around in places.items():
        if label not in graph.scopes and not any(is_inside(one, label) for one in graph.scopes):
            continue
        modules.add(label)
        for index, box in enumerate(picture.boxes):
            within = any(_holds(one, layout.places[index]) for one in around)
            is_group = graph.kinds[box.node] == "group"
            address = (is_group and graph.scopes[box.node]) or graph.address(box.node)
            halves = {half for half in ("forward", "backward") if _has(made, label, half)}
            if box.half in halves:
                assert within == is_inside(address, label), (label, address)
    return modules


def _lanes(made: Composed, layout: Layout, frame: Rectangle) -> Iterator[float]:
    """Where lines run straight down along at least half of a frame."""
    for line, route in zip(made.picture.lines, layout.routes, strict=True):
        ends = [route.start, *(segment[-2:] for segment in route.segments)]
        for (x, y), segment in zip(ends, route.segments, strict=False):
            if line.kind != "saved" and len(segment) == 2 and segment[0] == x:
                beside = min(max(y, segment[1]), frame.bottom) - max(min(y, segment[1]), frame.y)
                if 2 * beside > frame.height:
                    yield x


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    across = one.x < other.right and other.x < one.right
    return across and one.y < other.bottom and other.y < one.bottom


def _to_a_side(frame: Rectangle, x: float) -> float:
    return min(abs(x - frame.x), abs(x - frame.right))


def _has(made: Composed, label: str, half: str) -> bool:
    boxes = made.picture.boxes
    return any(
        boxes[index].half == half
        for frame in made.picture.frames
        if frame.label == label
        for index in frame.boxes
    )


def _holds(frame: Rectangle, box: Rectangle) -> bool:
    across = frame.x < box.right and box.x < frame.right
    touches = across and frame.y < box.bottom and box.y < frame.bottom
    whole = frame.x < box.x and box.right < frame.right
    assert not touches or whole, "a frame through a box"
    return touches


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", BOTH_ENGINES)
@pytest.mark.parametrize("program", picture_programs.EACH)
def test_frames_hold_their_members_and_nothing_else(program: str, engine: str) -> None:
    for view in VIEWS:
        check_frames(composed(graph_of(program, engine), view))


@pytest.mark.parametrize("engine", BOTH_ENGINES)
@pytest.mark.parametrize(
    ("program", "framed"),
    [("encoder_layers", "layers.0"), ("small_gpt", "h.0"), ("mixture_of_experts", "")],
)
def test_what_is_open_of_several_modules_is_framed(program: str, framed: str, engine: str) -> None:
    modules = check_frames(composed(graph_of(program, engine)))
    assert any(one.endswith(framed) for one in modules) if framed else not modules


@pytest.mark.parametrize("program", ["encoder_layers", "small_resnet", "two_loops"])
def test_no_label_stands_on_the_upper_or_lower_side_of_a_frame(program: str) -> None:
    made = composed(graph_of(program, "core"))
    layout = made.layout or lay_out(made.picture)
    sides = [place for _, places in frame_places(made.picture, layout) for place in places]
    assert sides
    for line, route in zip(made.picture.lines, layout.routes, strict=True):
        if line.label and route.label:
            text = label_place(line.label, route.label)
            for side in sides:
                if text.x < side.right and side.x < text.right:
                    assert not text.y < side.y < text.bottom, line.label
                    assert not text.y < side.bottom < text.bottom, line.label
