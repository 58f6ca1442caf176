"""Our own layout: rows from top to bottom, or columns from left to right, the backward half as the
mirror of the forward one.

It is a layered layout after Sugiyama, Tagawa and Toda (1981), in time linear in the size of the
picture.  The views of one half are the two halves of the ladder.  Boxes stand in rows; the space
between two rows is a *channel*.  :func:`lay_out` lists the passes; each takes what it needs and
returns what it found out.
"""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import Final

from gradstep.guest.collector import collector_paused
from gradstep_viz import theme
from gradstep_viz.layout.compaction import HalfColumns, compact
from gradstep_viz.layout.crossings import order
from gradstep_viz.layout.graph import merge_partners
from gradstep_viz.layout.grid import BESIDE, MANY, Grid, position_columns
from gradstep_viz.layout.halves import place_halves, side_lanes
from gradstep_viz.layout.labels import label
from gradstep_viz.layout.layers import rank
from gradstep_viz.layout.ports import choose_ports
from gradstep_viz.layout.relief import Relief
from gradstep_viz.layout.routes import plan_square_lines, route
from gradstep_viz.layout.rows import position_rows
from gradstep_viz.layout.saved import plan_saved
from gradstep_viz.layout.tracks import stack_runs
from gradstep_viz.layout.turned import label_beside, turn_boxes, turn_routes
from gradstep_viz.layout.wrapping import WIDE
from gradstep_viz.picture import geometry
from gradstep_viz.picture.geometry import Layout, Rectangle, Route
from gradstep_viz.picture.model import Line, Picture
from gradstep_viz.picture.records import Records

__all__ = ["lay_out"]


MOST_ROUNDS: Final = 4
"""So often more room is made for labels that other lines would cut."""

MORE_ROOM: Final = 40
"""By so much columns stand further apart then."""


@collector_paused()
def lay_out(picture: Picture, *, pages: int | None = None, wide: float = WIDE) -> Layout:
    """Find places and routes for everything in ``picture``, in time linear in its size; what is far
    too tall continues in another column, or all stands in so many ``pages`` as lines allow, and
    branches that would make a half wider than ``wide`` stand one below the other."""
    if picture.rankdir == "LR":
        return _lay_out_turned(picture)
    # rank: a row for every box and its partner, a bend in every row that a line passes
    graph = merge_partners(picture)
    layers = rank(graph, wide)
    # order: within each row, so that few lines cross
    layers = order(layers)
    # position and route, with more room where labels are cut, as long as that helps
    relief = Relief()
    grid = position_columns(graph, layers, relief.vertices)
    layout, cut = _arrange(grid, relief, pages)
    for _ in range(MOST_ROUNDS if cut else 0):
        relief = relief.grown(grid, cut)
        grid = position_columns(graph, layers, relief.vertices)
        other, still_cut = _arrange(grid, relief, pages)
        if len(still_cut) < len(cut):
            layout = other
        cut = min(cut, still_cut, key=len)
        if not cut:
            break
    return layout


def _lay_out_turned(picture: Picture) -> Layout:
    """Lay out from left to right: rows become columns, as far apart as labels are wide."""
    texts = picture.lines.column("label")
    bare = picture._replace(
        title="", captions=("",) * len(picture.captions), frames=(),
        lines=Records.of(Line, [line._replace(label="") for line in picture.lines]),
    )  # fmt: skip
    graph = merge_partners(bare)
    graph = graph._replace(sizes=[(height, width) for width, height in graph.sizes])
    grid = position_columns(graph, order(rank(graph, WIDE)), {})
    rooms: Counter[int] = Counter()
    for line, text in enumerate(texts):
        if text and grid.arcs[line] is not None:
            row = grid.rows[grid.upper[line]]
            rooms[row] = max(rooms[row], _room_between(text))
    choices: list[tuple[int, Layout]] = []
    for _ in range(MOST_ROUNDS):
        layout, _ = _arrange(grid, Relief(rooms), 1)
        share = (layout.height - 2 * theme.MARGIN) / max(1, len(picture.halves))
        columns = [(theme.MARGIN + share * place, share) for place in range(len(picture.halves))]
        captions = geometry.place_captions(picture, columns)
        down = geometry.header_height(picture, captions) - theme.MARGIN
        places, routes = turn_boxes(layout.places, down), turn_routes(layout.routes, down)
        labels, cut = label_beside(picture, places, routes)
        labelled = (route._replace(label=one) for route, one in zip(routes, labels, strict=True))
        width = max(layout.height, geometry.header_width(picture, captions) + theme.MARGIN)
        turned = Records.of(Route, labelled)
        choices.append((len(cut), Layout(width, layout.width + down, places, turned, captions)))
        if not cut or len(routes) > MANY:
            break
        rooms.update({grid.rows[grid.upper[line]]: MORE_ROOM for line in cut})
    return min(choices, key=lambda choice: choice[0])[1]


def _room_between(text: str) -> int:
    """How much further apart two columns are than rows, for a label between them."""
    return max(0, ceil(geometry.text_width(text, theme.MUTED_SIZE) + 2 * BESIDE - theme.ROW_GAP))


def _arrange(grid: Grid, relief: Relief, pages: int | None) -> tuple[Layout, list[int]]:
    """Place the grid; returns also the lines whose labels others cut."""
    picture = grid.picture
    # position, across: columns without the gaps that a half does not need
    columns = compact(grid)
    # side by side: with lanes beside the halves and a gutter between them
    saved, lanes = plan_saved(grid, columns, relief.aside), side_lanes(grid)
    halves = place_halves(grid, columns, saved, lanes, relief)
    # route, without heights: where lines leave and enter boxes, and the corners of square ones
    ports = choose_ports(grid, halves)
    corners = plan_square_lines(grid, halves, ports, saved)
    tracks = stack_runs(corners.values())
    # position, down: rows below the captions, as far apart as their lines need, on pages
    captions = geometry.place_captions(picture, _spans(grid, halves.columns))
    top = geometry.header_height(picture, captions)
    rows = position_rows(grid, halves, ports, corners, tracks, top, relief, pages)
    # route: the courses of all lines
    courses = route(grid, halves.columns, rows, ports, corners)
    # label: beside their lines, where there is room
    labels, cut = label(grid, halves.columns, rows, ports, courses, corners, tracks)

    places = rows.places(halves.columns)
    routes = Records(Route, start=courses.starts, segments=courses.segments, label=labels)
    right = halves.right + rows.pages.shifts[-1]
    if len(routes) <= MANY:
        right = min(right, _reach(picture, places, routes))
    width = max(right, geometry.header_width(picture, captions)) + theme.MARGIN
    layout = Layout(
        width, rows.bottom + theme.MARGIN, places, routes, captions, rows.pages.numbered_ports()
    )
    return layout, cut


def _spans(grid: Grid, columns: HalfColumns) -> list[tuple[float, float]]:
    """Return where each half begins, and how wide its boxes are together."""
    spans = []
    for half in grid.picture.halves:
        boxes = [box for box, other in enumerate(grid.halves) if other == half]
        low = columns.extent[half][0]
        right = max((columns.right[box] for box in boxes), default=columns.extent[half][1])
        spans.append((low, right - low))
    return spans


def _reach(picture: Picture, places: Records[Rectangle], routes: Records[Route]) -> float:
    """Find how far to the right there is anything: there was room for labels on either side, and
    the last page need not be as wide as the others."""
    reach = [x + width for x, width in zip(places.column("x"), places.column("width"), strict=True)]
    for segments in routes.column("segments"):
        reach += [x for segment in segments for x in segment[::2]]
    texts = picture.lines.column("label")
    for text, place in zip(texts, routes.column("label"), strict=True):
        if place is not None and place[2] == "start":
            reach.append(place[0] + geometry.text_width(text, theme.MUTED_SIZE))
    return float(ceil(max(reach, default=0)))
