"""Lines of values and gradients: where they leave and enter boxes, and their long lanes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viz.layout import paths
from viz.layout.grid import Grid
from viz.layout.halves import PORT_STEP
from viz.layout.tracks import Anchor, Corner, assign_tracks, run

SIDE_EDGE = 18
SIDE_STEP = 9
MOST_SIDE_LANES = 16
CLOSEST_PORTS = 14
PORT_SPREAD = 0.34

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]


class Ports(NamedTuple):
    """Where each line leaves its upper box, and where it enters its lower one."""

    upper: list[float]
    lower: list[float]


def side_lanes(grid: Grid) -> dict[int, int]:
    """A lane beside its half for each line that is too long for bends; lines share by end."""
    outside = [
        line
        for line, (arc, bends) in enumerate(zip(grid.arcs, grid.bends, strict=True))
        if arc is not None and bends is None
    ]
    lanes: dict[int, int] = {}
    for half in ("forward", "backward"):
        members = [line for line in outside if grid.halves[grid.sources[line]] == half]
        groups = _group_by_busier_end(grid, members)
        spans = []
        for group in groups:
            ends = [box for line in group for box in (grid.upper[line], grid.lower[line])]
            rows = [grid.rows[box] for box in ends]
            spans.append((float(min(rows)), float(max(rows))))
        for group, lane in zip(groups, assign_tracks(spans, 0.5, MOST_SIDE_LANES), strict=True):
            lanes.update(dict.fromkeys(group, lane))
    return lanes


def _group_by_busier_end(grid: Grid, lines: list[int]) -> list[list[int]]:
    load: dict[int, int] = {}
    for line in lines:
        for box in (grid.sources[line], grid.targets[line]):
            load[box] = load.get(box, 0) + 1
    groups: dict[int, list[int]] = {}
    for line in lines:
        ends = grid.sources[line], grid.targets[line]
        busier = max(ends, key=lambda box: (load[box], -box))
        groups.setdefault(busier, []).append(line)
    return list(groups.values())


def side_room(lanes: dict[int, int], lines: list[int]) -> float:
    """The width that the lanes of these lines take beside their half."""
    count = 1 + max((lanes[i] for i in lines), default=-1)
    return SIDE_EDGE + count * SIDE_STEP if count else 0.0


def choose_ports(grid: Grid, lane_x: dict[int, float]) -> Ports:
    """Spread the lines along the edges of the boxes, in the order in which they go away.

    A line that is alone on its edge keeps the middle.
    """
    centers = np.array(grid.centers)
    upper, lower = np.array(grid.upper, np.int64), np.array(grid.lower, np.int64)
    is_data = np.array([arc is not None for arc in grid.arcs], np.bool_)
    goals = centers[lower], centers[upper]
    for line, bends in enumerate(grid.bends):
        if bends:
            columns = grid.columns[grid.halves[grid.upper[line]]]
            goals[0][line], goals[1][line] = columns[bends[0]], columns[bends[-1]]
    for line, x in lane_x.items():
        goals[0][line] = goals[1][line] = x
    return Ports(
        _attached(grid, upper, is_data, centers, goals[0]),
        _attached(grid, lower, is_data, centers, goals[1]),
    )


def _attached(
    grid: Grid, boxes: Ints, is_data: Truths, centers: Floats, goals: Floats
) -> list[float]:
    """Where lines are attached to one edge of their ``boxes`` when they go to ``goals``."""
    company = np.bincount(boxes[is_data], minlength=len(centers))
    crowded = np.flatnonzero(is_data & (company[boxes] > 1))
    away = goals[crowded] - centers[boxes[crowded]]
    order = np.lexsort((crowded, away, boxes[crowded]))
    lines, away = crowded[order].tolist(), away[order].tolist()
    ports: list[float] = centers[boxes].tolist()
    first = 0
    while first < len(lines):
        box = boxes[lines[first]]
        end = first + company[box]
        spread = _spread(tuple(away[first:end]), grid.sizes[box][0])
        for line, port in zip(lines[first:end], spread, strict=True):
            ports[line] += port
        first = end
    return ports


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
    bends = grid.bends[line]
    if not bends:
        return [ports.upper[line], ports.lower[line]]
    columns, shift = grid.columns[grid.halves[grid.upper[line]]], _parallel_shift(grid, line)
    return [ports.upper[line], *[columns[bend] + shift for bend in bends], ports.lower[line]]


def is_step(grid: Grid, line: int) -> bool:
    """Whether a line runs from one row to the next, on one page."""
    row, of_row = grid.rows[grid.upper[line]], grid.pages.of_row
    return not grid.bends[line] and of_row[row] == of_row[row + 1]


def step_course(grid: Grid, line: int, ports: Ports) -> paths.Path:
    """The course of such a line."""
    upper, lower = grid.upper[line], grid.lower[line]
    row = grid.rows[upper]
    shift = grid.pages.shifts[grid.pages.of_row[row]]
    top = ports.upper[line] + shift, grid.bottom_of(upper)
    bottom = ports.lower[line] + shift, grid.tops[lower]
    leaves, enters = grid.row_bottom[row], grid.row_top[row + 1]
    if grid.rises[line]:
        return paths.step(bottom, enters, leaves, top)
    return paths.step(top, leaves, enters, bottom)


def middle_of_step(grid: Grid, line: int, ports: Ports) -> paths.Point:
    """Below the upper end of such a line, halfway between the rows."""
    row = grid.rows[grid.upper[line]]
    x = ports.upper[line] + grid.pages.shifts[grid.pages.of_row[row]]
    return x, (grid.row_bottom[row] + grid.row_top[row + 1]) / 2


def soft_points(grid: Grid, line: int, xs: list[float]) -> list[paths.Point]:
    """Where a line passes the upper and lower edges of the rows on its way down."""
    upper, lower, row = grid.upper[line], grid.lower[line], grid.rows[grid.upper[line]]
    shifts, of_row, last = grid.pages.shifts, grid.pages.of_row, grid.rows[lower]
    points = [(xs[0] + shifts[of_row[row]], grid.bottom_of(upper))]
    for x in xs[:-1]:
        shift = shifts[of_row[row]]
        if len(points) > 1:
            points.append((x + shift, grid.row_top[row]))
        points.append((x + shifts[of_row[row + 1]], grid.row_bottom[row]))
        row += 1
    x = xs[-1] + shifts[of_row[last]]
    return [*points, (x, grid.row_top[last]), (x, grid.tops[lower])]


def soft_course(grid: Grid, line: int, xs: list[float], points: list[paths.Point]) -> paths.Path:
    """The course of a line through ``points``, and through the ends of pages between them."""
    pages, first = grid.pages, grid.rows[grid.upper[line]]
    begin, end = pages.of_row[first], pages.of_row[grid.rows[grid.lower[line]]]
    rises = grid.rises[line]
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
        before = grid.sources[line - 1], grid.targets[line - 1]
        if before == (grid.sources[line], grid.targets[line]):
            return 5.0
    return 0.0


def lane_corners(grid: Grid, line: int, ports: Ports, lane_x: float) -> list[Corner]:
    """The square course of a line that runs beside its half."""
    upper, lower = grid.upper[line], grid.lower[line]
    x, end_x = ports.upper[line], ports.lower[line]
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
