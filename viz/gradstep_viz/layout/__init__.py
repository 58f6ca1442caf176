"""Our own layout: rows from top to bottom, the backward half as the mirror of the forward one.

It is a layered layout after Sugiyama, Tagawa and Toda (1981), in time linear in the size of the
picture.  The views of one half are the two halves of the ladder.  Boxes stand in rows; the space
between two rows is a *channel*.  :func:`lay_out` lists the passes; each takes what it needs and
returns what it found out.
"""

from __future__ import annotations

from math import ceil

from gradstep.graph.collector import collector_paused
from gradstep_viz import theme
from gradstep_viz.layout.compaction import compact
from gradstep_viz.layout.crossings import order
from gradstep_viz.layout.graph import merge_partners
from gradstep_viz.layout.grid import MANY, Grid, position_columns
from gradstep_viz.layout.halves import place_halves
from gradstep_viz.layout.labels import label
from gradstep_viz.layout.lanes import side_lanes
from gradstep_viz.layout.layers import rank
from gradstep_viz.layout.ports import choose_ports
from gradstep_viz.layout.relief import Relief
from gradstep_viz.layout.routes import plan_square_lines, route
from gradstep_viz.layout.rows import position_rows
from gradstep_viz.layout.saved import plan_saved
from gradstep_viz.layout.tracks import stack_runs
from gradstep_viz.picture import geometry
from gradstep_viz.picture.geometry import Layout, Rectangle, Route
from gradstep_viz.picture.model import Picture
from gradstep_viz.picture.records import Records

__all__ = ["lay_out"]


MOST_ROUNDS = 4
"""So often more room is made for labels that other lines would cut."""


@collector_paused()
def lay_out(picture: Picture, *, paged: bool = True) -> Layout:
    """Find places and routes for everything in ``picture``, in time linear in its size; what is far
    too tall goes on in another column, unless it is not to be ``paged``."""
    # rank: a row for every box and its partner, a bend in every row that a line passes
    graph = merge_partners(picture)
    layers = rank(graph)
    # order: within each row, so that few lines cross
    layers = order(layers)
    # position and route, with more room where labels are cut, as long as that helps
    relief = Relief()
    grid = position_columns(graph, layers, relief.vertices)
    layout, cut = _arrange(grid, relief, paged)
    for _ in range(MOST_ROUNDS if cut else 0):
        relief = relief.grown(grid, cut)
        grid = position_columns(graph, layers, relief.vertices)
        other, still_cut = _arrange(grid, relief, paged)
        if len(still_cut) < len(cut):
            layout = other
        cut = min(cut, still_cut, key=len)
        if not cut:
            break
    return layout


def _arrange(grid: Grid, relief: Relief, paged: bool) -> tuple[Layout, list[int]]:
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
    extents = [halves.columns.extent[half] for half in picture.halves]
    captions = geometry.place_captions(picture, [(low, high - low) for low, high in extents])
    top = geometry.header_height(picture, captions)
    rows = position_rows(grid, halves, ports, corners, tracks, top, relief, paged)
    # route: the courses of all lines
    courses = route(grid, halves.columns, rows, ports, corners)
    # label: beside their lines, where there is room
    labels, cut = label(grid, halves.columns, rows, ports, courses, corners, tracks)

    places = rows.places(halves.columns)
    routes = Records(Route, start=courses.starts, segments=courses.segments, label=labels)
    right = halves.right + rows.pages.shifts[-1]
    if rows.pages and len(routes) <= MANY:
        right = min(right, _reach(picture, places, routes))
    width = max(right, geometry.header_width(picture, captions)) + theme.MARGIN
    return Layout(width, rows.bottom + theme.MARGIN, places, routes, captions), cut


def _reach(picture: Picture, places: Records[Rectangle], routes: Records[Route]) -> float:
    """Find how far to the right there is anything: the last page need not be as wide as the
    others."""
    reach = [x + width for x, width in zip(places.column("x"), places.column("width"), strict=True)]
    for segments in routes.column("segments"):
        reach += [x for segment in segments for x in segment[::2]]
    texts = picture.lines.column("label")
    for text, place in zip(texts, routes.column("label"), strict=True):
        if place is not None and place[2] == "start":
            reach.append(place[0] + geometry.text_width(text, theme.MUTED_SIZE))
    return float(ceil(max(reach)))
