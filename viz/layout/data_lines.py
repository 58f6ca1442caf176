"""Lines of values and gradients: where they leave and enter boxes, and their long lanes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from viz.layout import paths
from viz.layout.grid import Grid
from viz.layout.halves import PORT_STEP
from viz.layout.tracks import Anchor, Corner, assign_tracks, run

SIDE_EDGE = 18
SIDE_STEP = 9
MOST_SIDE_LANES = 16
CLOSEST_PORTS = 14
PORT_SPREAD = 0.34


class Ports(NamedTuple):
    """How far from the centre of its upper and lower box each line is attached."""

    upper: list[float]
    lower: list[float]


def side_lanes(grid: Grid) -> dict[int, int]:
    """A lane beside its half for each line that is too long for bends; lines share by end."""
    outside = [
        i for i, arc in enumerate(grid.arcs) if arc is not None and arc not in grid.layers.chains
    ]
    lanes: dict[int, int] = {}
    for half in ("forward", "backward"):
        members = [
            i for i in outside if grid.picture.boxes[grid.picture.lines[i].source].half == half
        ]
        groups = _group_by_busier_end(grid, members)
        spans = []
        for group in groups:
            rows = [row for i in group for row in _rows(grid, i)]
            spans.append((float(min(rows)), float(max(rows))))
        for group, lane in zip(groups, assign_tracks(spans, 0.5, MOST_SIDE_LANES), strict=True):
            lanes.update(dict.fromkeys(group, lane))
    return lanes


def _rows(grid: Grid, line: int) -> tuple[int, int]:
    data = grid.picture.lines[line]
    return grid.rows[data.source], grid.rows[data.target]


def _group_by_busier_end(grid: Grid, lines: list[int]) -> list[list[int]]:
    load: dict[int, int] = {}
    for i in lines:
        for box in (grid.picture.lines[i].source, grid.picture.lines[i].target):
            load[box] = load.get(box, 0) + 1
    groups: dict[int, list[int]] = {}
    for i in lines:
        data = grid.picture.lines[i]
        busier = max(data.source, data.target, key=lambda box: (load[box], -box))
        groups.setdefault(busier, []).append(i)
    return list(groups.values())


def side_room(lanes: dict[int, int], lines: list[int]) -> float:
    """The width that the lanes of these lines take beside their half."""
    count = 1 + max((lanes[i] for i in lines), default=-1)
    return SIDE_EDGE + count * SIDE_STEP if count else 0.0


def choose_ports(grid: Grid, lane_x: dict[int, float]) -> Ports:
    """Spread the lines along the edges of the boxes, in the order in which they go away.

    A line that is alone on its edge keeps the middle.
    """
    count = len(grid.picture.lines)
    ports = Ports([0.0] * count, [0.0] * count)
    lines = [line for line, arc in enumerate(grid.arcs) if arc is not None]
    for is_upper, boxes, chosen in (
        (True, grid.upper, ports.upper),
        (False, grid.lower, ports.lower),
    ):
        company = [0] * len(grid.sizes)
        for line in lines:
            company[boxes[line]] += 1
        crowds: dict[int, list[tuple[float, int]]] = {}
        for line in lines:
            box = boxes[line]
            if company[box] > 1:
                away = _next_x(grid, line, is_upper, lane_x) - grid.centers[box]
                crowds.setdefault(box, []).append((away, line))
        for box, crowd in crowds.items():
            crowd.sort()
            spread = _spread(tuple([away for away, _ in crowd]), grid.sizes[box][0])
            for (_, line), port in zip(crowd, spread, strict=True):
                chosen[line] = port
    return ports


def _next_x(grid: Grid, line: int, is_upper: bool, lane_x: dict[int, float]) -> float:
    """Where a line goes first when it leaves one of its ends."""
    if line in lane_x:
        return lane_x[line]
    arc = grid.arcs[line]
    assert arc is not None
    bends = grid.layers.chains[arc]
    if bends:
        half = grid.picture.boxes[grid.upper[line]].half
        return grid.columns[half][bends[0] if is_upper else bends[-1]]
    return grid.centers[grid.lower[line] if is_upper else grid.upper[line]]


@functools.lru_cache(maxsize=4096)
def _spread(away: tuple[float, ...], width: float) -> Sequence[float]:
    """Ports for lines that go ``away`` so far, in order: straight where possible, else even.

    >>> _spread((0.0,), 100), _spread((-300.0, 0.0), 100), _spread((0.0, 20.0), 100)
    ([0.0], [-34.0, 0.0], [0.0, 20.0])
    """
    straight = [i for i, x in enumerate(away) if abs(x) < 1]
    middle = sum(straight) / len(straight) if straight else (len(away) - 1) / 2
    most = max(middle, len(away) - 1 - middle)
    step = min(PORT_STEP, width * PORT_SPREAD / most) if most else 0.0
    even = [round((index - middle) * step, 1) for index in range(len(away))]
    if len(away) > 1:
        reach = width * PORT_SPREAD
        exact = [x if abs(x) <= reach else port for x, port in zip(away, even, strict=True)]
        if all(b - a >= CLOSEST_PORTS for a, b in pairwise(exact)):
            return exact
    return even


def lines_below(grid: Grid) -> list[int]:
    """How many lines of values or gradients leave each box downwards."""
    count = [0] * len(grid.sizes)
    for box, arc in zip(grid.upper, grid.arcs, strict=True):
        count[box] += arc is not None
    return count


def row_xs(grid: Grid, line: int, ports: Ports) -> list[float]:
    """Where a soft line passes each row on its way down, as if there were no pages."""
    arc = grid.arcs[line]
    assert arc is not None
    upper, lower = grid.upper[line], grid.lower[line]
    start, end = grid.centers[upper] + ports.upper[line], grid.centers[lower] + ports.lower[line]
    bends = grid.layers.chains[arc]
    if not bends:
        return [start, end]
    columns, shift = grid.columns[grid.picture.boxes[upper].half], _parallel_shift(grid, line)
    return [start, *[columns[bend] + shift for bend in bends], end]


def straight_ends(grid: Grid, line: int, xs: Sequence[float]) -> tuple[paths.Point, paths.Point]:
    """The ends of a line that runs straight down, the upper one first."""
    x = xs[0] + grid.pages.shifts[grid.pages.of_row[grid.rows[grid.upper[line]]]]
    return (x, grid.places[grid.upper[line]].bottom), (x, grid.places[grid.lower[line]].y)


def is_straight(grid: Grid, line: int, xs: Sequence[float]) -> bool:
    """Whether a line runs straight down from row to row on one page."""
    of_row = grid.pages.of_row
    row = grid.rows[grid.upper[line]]
    return len(xs) == 2 and xs[0] == xs[1] and of_row[row] == of_row[row + 1]


def soft_points(grid: Grid, line: int, xs: list[float]) -> list[paths.Point]:
    """Where a line passes the upper and lower edges of the rows on its way down."""
    upper, lower, row = grid.upper[line], grid.lower[line], grid.rows[grid.upper[line]]
    shifts, of_row, last = grid.pages.shifts, grid.pages.of_row, grid.rows[lower]
    points = [(xs[0] + shifts[of_row[row]], grid.places[upper].bottom)]
    for x in xs[:-1]:
        shift = shifts[of_row[row]]
        if len(points) > 1:
            points.append((x + shift, grid.row_top[row]))
        points.append((x + shifts[of_row[row + 1]], grid.row_bottom[row]))
        row += 1
    x = xs[-1] + shifts[of_row[last]]
    return [*points, (x, grid.row_top[last]), (x, grid.places[lower].y)]


def soft_course(grid: Grid, line: int, xs: list[float], points: list[paths.Point]) -> paths.Path:
    """The course of a line through ``points``, and through the ends of pages between them."""
    pages, first = grid.pages, grid.rows[grid.upper[line]]
    begin, end = pages.of_row[first], pages.of_row[grid.rows[grid.lower[line]]]
    rises = grid.picture.lines[line].kind == "gradient"
    if begin == end and len(xs) == 2 and xs[0] == xs[1]:
        ends = (points[-1], points[0]) if rises else (points[0], points[-1])
        return ends[0], [ends[1]]
    if begin == end:
        return paths.soft(points[::-1] if rises else points)
    parts, done = [], 0
    for page in range(begin, end):
        nth = pages.last_rows[page] - first
        leaves, enters = 2 * nth, 2 * nth + 1
        parts.append(paths.soft(points[done : leaves + 1]))
        turn = pages.turn(page, xs[nth])
        parts.append(paths.square([points[leaves], *turn, points[enters]]))
        done = enters
    path = paths.join([*parts, paths.soft(points[done:])])
    return paths.reverse(path) if rises else path


def _parallel_shift(grid: Grid, line: int) -> float:
    """Keep two lines between the same two boxes apart, where they share a lane."""
    if line and grid.arcs[line - 1] == grid.arcs[line]:
        before, data = grid.picture.lines[line - 1], grid.picture.lines[line]
        if (before.source, before.target) == (data.source, data.target):
            return 5.0
    return 0.0


def lane_corners(grid: Grid, line: int, ports: Ports, lane_x: float) -> list[Corner]:
    """The square course of a line that runs beside its half."""
    upper, lower = grid.upper[line], grid.lower[line]
    x = grid.centers[upper] + ports.upper[line]
    end_x = grid.centers[lower] + ports.lower[line]
    out = run(grid.rows[upper], x, lane_x)
    into = run(grid.rows[lower] - 1, lane_x, end_x)
    return [
        (x, Anchor(upper, 1.0)),
        (x, out),
        (lane_x, out),
        (lane_x, into),
        (end_x, into),
        (end_x, Anchor(lower, 0.0)),
    ]
