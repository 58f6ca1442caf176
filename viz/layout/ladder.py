"""Our own layout: rows from top to bottom, the backward half as the mirror of the forward one.

The views of one half are the two halves of the ladder.  Boxes stand in rows; the space between
two rows is a *channel*.  Lines of data run straight through rows, in lanes kept free for them,
and bend in channels only.  Lines to saved values, and lines too long for a lane of their own,
run square: along channels, and up and down beside the boxes.  So no line runs through a box.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil

from autograd_core.dag.model import Half
from viz import theme
from viz.layout import data_lines, paths, saved
from viz.layout.grid import MANY, Grid, make_grid
from viz.layout.halves import set_columns
from viz.layout.labels import beside, beside_start, place_labels
from viz.layout.pages import Crossing, Pages, choose_pages, count_passing
from viz.layout.tracks import Corner, stack_runs
from viz.picture import geometry
from viz.picture.geometry import Label, Layout, Place, Route, Segment
from viz.picture.model import Picture
from viz.picture.records import Records


def lay_out(picture: Picture) -> Layout:
    """Places and routes for everything in ``picture``, in time linear in its size."""
    grid = make_grid(picture)
    set_columns(grid)
    plans = saved.plan_saved(grid)
    lanes = data_lines.side_lanes(grid)
    lane_x, gutter_end, right = _set_halves(grid, plans, lanes)
    right = float(ceil(right))
    ports = data_lines.choose_ports(grid, lane_x)
    corners: dict[int, list[Corner]] = {
        line: data_lines.lane_corners(grid, line, ports, x) for line, x in lane_x.items()
    }
    for plan in plans:
        corners[plan.line] = saved.saved_corners(grid, plan, gutter_end)
    tracks = stack_runs([one for way in corners.values() for one in saved.runs_of(way)])
    grid.set_spacing(tracks)
    halves = [grid.extent[half] for half in picture.halves]
    captions = geometry.place_captions(picture, [(low, high - low) for low, high in halves])
    pages = _make_pages(grid, tracks, ports, corners, right)
    grid.set_rows(geometry.header_height(picture, captions), tracks, pages)
    routes = _routes(grid, ports, corners, tracks)
    places = grid.places()
    right += pages.shifts[-1]
    if pages and len(routes) <= MANY:
        right = min(right, _reach(picture, places, routes))
    width = max(right, geometry.header_width(picture, captions)) + theme.MARGIN
    return Layout(width, grid.bottom + theme.MARGIN, places, routes, captions)


def _set_halves(
    grid: Grid, plans: list[saved.SavedLine], lanes: dict[int, int]
) -> tuple[dict[int, float], float, float]:
    """Place the halves side by side; long lanes run left of the forward, right of the backward."""
    by_half: dict[str, list[int]] = {"forward": [], "backward": []}
    for line in lanes:
        by_half[grid.halves[grid.sources[line]]].append(line)
    x: float = theme.MARGIN
    lane_x: dict[int, float] = {}
    offset: dict[Half, float] = {}
    if "forward" in grid.extent:
        low, high = grid.extent["forward"]
        x += data_lines.side_room(lanes, by_half["forward"])
        for line in by_half["forward"]:
            lane_x[line] = x - data_lines.SIDE_EDGE - lanes[line] * data_lines.SIDE_STEP
        offset["forward"] = round(x - low)
        x = offset["forward"] + high
    if "backward" in grid.extent:
        low, high = grid.extent["backward"]
        if "forward" in grid.extent:
            x += saved.gutter_width(grid, plans)
        offset["backward"] = round(x - low)
        gutter_end = float(round(x))
        x = offset["backward"] + high
        for line in by_half["backward"]:
            lane_x[line] = x + data_lines.SIDE_EDGE + lanes[line] * data_lines.SIDE_STEP
        x += data_lines.side_room(lanes, by_half["backward"])
    else:
        gutter_end = x
    grid.set_halves(offset)
    return lane_x, gutter_end, x


def _make_pages(
    grid: Grid,
    tracks: dict[int, int],
    ports: data_lines.Ports,
    corners: dict[int, list[Corner]],
    right: float,
) -> Pages:
    """Where pages end, and all lines that run on into the next page."""
    heights, channels = grid.row_heights, grid.channels(tracks)
    pitches = [height + channel for height, channel in zip(heights, channels, strict=True)]
    soft = [line for line in range(len(grid.arcs)) if line not in corners]
    firsts = [grid.rows[grid.upper[line]] for line in soft]
    lasts = [grid.rows[grid.lower[line]] for line in soft]
    lanes = saved.lane_spans(grid, corners)
    passing = count_passing(
        len(pitches), [*firsts, *(low for low, _ in lanes)], [*lasts, *(high for _, high in lanes)]
    )
    pages = choose_pages(pitches, right - theme.MARGIN, len(grid.extent), passing)
    if not pages:
        return pages
    grid.pages = pages
    crossings: list[Crossing] = []
    for line, first, last in zip(soft, firsts, lasts, strict=True):
        start, end = pages.of_row[first], pages.of_row[last]
        if start != end:
            xs = data_lines.row_xs(grid, line, ports)
            for page in range(start, end):
                crossings.append(Crossing(page, xs[pages.last_rows[page] - first]))
    for way in corners.values():
        for (_, before), (x, level) in pairwise(way):
            start, end = sorted((grid.page(before), grid.page(level)))
            crossings += [Crossing(page, x) for page in range(start, end)]
    pages.set_turns(crossings, right, right - theme.MARGIN)
    return pages


def _routes(
    grid: Grid,
    ports: data_lines.Ports,
    corners: dict[int, list[Corner]],
    tracks: dict[int, int],
) -> Records[Route]:
    if len(grid.arcs) > MANY:
        return _many_routes(grid, ports, corners)
    courses: list[paths.Path] = []
    ways: dict[int, list[paths.Point]] = {}
    for line in range(len(grid.arcs)):
        if line in corners:
            courses.append(_square_course(grid, line, corners[line]))
        else:
            xs = data_lines.row_xs(grid, line, ports)
            ways[line] = data_lines.soft_points(grid, line, xs)
            courses.append(data_lines.soft_course(grid, line, xs, ways[line]))
    labels = place_labels(grid, ways, corners, tracks)
    starts, segments = [start for start, _ in courses], [tuple(rest) for _, rest in courses]
    return Records(Route, start=starts, segments=segments, label=labels)


def _reach(picture: Picture, places: Records[Place], routes: Records[Route]) -> float:
    """How far to the right there is anything: the last page need not be as wide as the others."""
    reach = [x + width for x, width in zip(places.column("x"), places.column("width"), strict=True)]
    for segments in routes.column("segments"):
        reach += [x for segment in segments for x in segment[::2]]
    texts = picture.lines.column("label")
    for text, label in zip(texts, routes.column("label"), strict=True):
        if label is not None and label[2] == "start":
            reach.append(label[0] + geometry.text_width(text, theme.MUTED_SIZE))
    return float(ceil(max(reach)))


def _square_course(grid: Grid, line: int, way: list[Corner]) -> paths.Path:
    points = grid.points(way)
    return paths.square(points[::-1] if grid.rises[line] else points)


def _many_routes(
    grid: Grid, ports: data_lines.Ports, corners: dict[int, list[Corner]]
) -> Records[Route]:
    """The same for a picture that nobody sees whole: one line at a time, labels where they fit."""
    company = data_lines.lines_below(grid)
    starts: list[paths.Point] = []
    courses: list[tuple[Segment, ...]] = []
    labels: list[Label | None] = []
    for line, upper in enumerate(grid.upper):
        label: Label | None = None
        if line in corners:
            start, segments = _square_course(grid, line, corners[line])
        elif data_lines.is_step(grid, line):
            start, segments = data_lines.step_course(grid, line, ports)
            if company[upper] == 1:
                label = beside(*data_lines.middle_of_step(grid, line, ports))
        else:
            xs = data_lines.row_xs(grid, line, ports)
            points = data_lines.soft_points(grid, line, xs)
            start, segments = data_lines.soft_course(grid, line, xs, points)
            label = beside_start(points) if company[upper] == 1 else None
        starts.append(start)
        courses.append(tuple(segments))
        labels.append(label)
    return Records(Route, start=starts, segments=courses, label=labels)
