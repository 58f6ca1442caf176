"""Routes: the course of every line, once rows and columns stand.

Lines of data run straight through rows, in lanes kept free for them, and bend in channels only.
Lines to saved values, and lines too long for a lane of their own, run square: along channels, and
up and down beside the boxes.  So no line runs through a box.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from gradstep.graph.columns import BatchColumn
from gradstep_viz.layout import paths
from gradstep_viz.layout.compaction import HalfColumns
from gradstep_viz.layout.grid import MANY, Grid
from gradstep_viz.layout.halves import Halves
from gradstep_viz.layout.ports import Ports, row_xs
from gradstep_viz.layout.rows import Rows
from gradstep_viz.layout.saved import GUTTER_STEP, SavedLine
from gradstep_viz.layout.tracks import Anchor, Corner, run
from gradstep_viz.picture.geometry import Segment


class Courses(NamedTuple):
    """Where lines start, and how they go on; ``ways`` are the points of soft lines, two for each
    edge of a row that they pass.  Of many lines, no ways are kept, and courses are found when they
    are read."""

    starts: Sequence[paths.Point]
    segments: Sequence[tuple[Segment, ...]]
    ways: dict[int, list[paths.Point]]


def plan_square_lines(
    grid: Grid, halves: Halves, ports: Ports, saved: list[SavedLine]
) -> dict[int, list[Corner]]:
    """Find the corners of all lines that run square, before the heights of rows are known."""
    corners = {line: _lane_corners(grid, line, ports, x) for line, x in halves.lanes.items()}
    for plan in saved:
        corners[plan.line] = _saved_corners(grid, halves, plan)
    return corners


def _lane_corners(grid: Grid, line: int, ports: Ports, lane_x: float) -> list[Corner]:
    """Plan the course of a line that runs beside its half."""
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


def _saved_corners(grid: Grid, halves: Halves, plan: SavedLine) -> list[Corner]:
    """Plan the course of a line to a saved value."""
    source, target = plan.source, plan.target
    left = halves.columns.left[target]
    enter = _beside(grid, target, plan.enter)
    x, leave = halves.columns.right[source], _beside(grid, source, plan.leave)
    if plan.straight:
        return [(x, leave), (left, enter)]
    drop_x = left - plan.drop
    from_above = grid.rows[source] < grid.rows[target]
    entry_row = grid.rows[target] - 1 if from_above else grid.rows[target]
    if plan.exits == "bottom":
        x, leave = x - plan.inset, Anchor(source, 1.0)
    corners: list[Corner] = [(x, leave)]
    if plan.lane is None:
        across = run(entry_row, x, drop_x)
        return [
            *corners,
            (x, across),
            (drop_x, across),
            (drop_x, enter),
            (left, enter),
        ]
    lane_x = halves.gutter_lanes - GUTTER_STEP * plan.lane
    if plan.exits == "side":
        corners.append((lane_x, leave))
    else:
        out = run(grid.rows[source], x, lane_x)
        corners += [(x, out), (lane_x, out)]
    if plan.enters == "drop":
        into = run(entry_row, lane_x, drop_x)
        corners += [(lane_x, into), (drop_x, into), (drop_x, enter)]
    else:
        corners.append((lane_x, enter))
    return [*corners, (left, enter)]


def _beside(grid: Grid, box: int, level: int) -> Anchor:
    """Anchor a corner ``level`` below the middle of a box."""
    return Anchor(box, 0.5 + level / grid.sizes[box][1])


def route(
    grid: Grid, columns: HalfColumns, rows: Rows, ports: Ports, corners: dict[int, list[Corner]]
) -> Courses:
    """Draw every line: the square ones along their ``corners``, the others in soft curves."""
    if len(grid.arcs) > MANY:
        return _courses_of_many(grid, columns, rows, ports, corners)
    courses: list[paths.Path] = []
    ways: dict[int, list[paths.Point]] = {}
    for line in range(len(grid.arcs)):
        if line in corners:
            courses.append(_square_course(grid, rows, line, corners[line]))
        else:
            xs = row_xs(grid, columns, line, ports)
            ways[line] = _soft_points(grid, rows, line, xs)
            courses.append(_soft_course(grid, rows, line, xs, ways[line]))
    return Courses([start for start, _ in courses], [tuple(rest) for _, rest in courses], ways)


def _courses_of_many(
    grid: Grid, columns: HalfColumns, rows: Rows, ports: Ports, corners: dict[int, list[Corner]]
) -> Courses:
    """Draw every line when it is read: the courses of all of them take more memory than the rest of
    a layout."""
    straight = _StraightSteps(grid, rows, ports, corners)

    def course(line: int) -> paths.Path:
        if line in corners:
            return _square_course(grid, rows, line, corners[line])
        if straight.is_step[line]:
            return _step_course(grid, rows, line, ports)
        xs = row_xs(grid, columns, line, ports)
        return _soft_course(grid, rows, line, xs, _soft_points(grid, rows, line, xs))

    @functools.lru_cache(maxsize=1)  # both columns are read, one after the other
    def read(lines: range) -> tuple[list[paths.Point], list[tuple[Segment, ...]]]:
        starts: list[paths.Point] = []
        courses: list[tuple[Segment, ...]] = []
        for line, (is_straight, x, y, end) in zip(lines, straight.read(lines), strict=True):
            start, segments = ((x, y), ((x, end),)) if is_straight else course(line)
            starts.append(start)
            courses.append(tuple(segments))
        return starts, courses

    count = len(grid.arcs)
    return Courses(
        BatchColumn(count, lambda lines: read(lines)[0]),
        BatchColumn(count, lambda lines: read(lines)[1]),
        {},
    )


def _square_course(grid: Grid, rows: Rows, line: int, corners: list[Corner]) -> paths.Path:
    parts = rows.points(corners)
    if grid.rises[line]:
        parts = [part[::-1] for part in reversed(parts)]
    return paths.join(list(map(paths.square, parts)))


class _StraightSteps:
    """Of many lines, those from one row to the next on one page, ``is_step``, and the courses of
    those among them that run straight: most of all lines, which are therefore found many at a
    time."""

    def __init__(
        self, grid: Grid, rows: Rows, ports: Ports, corners: dict[int, list[Corner]]
    ) -> None:
        pages = np.array(rows.pages.of_row, np.int64)
        self._upper, self._lower = np.array(grid.upper), np.array(grid.lower)
        self._tops = np.array(rows.tops, np.float64)
        self._bottoms = self._tops + np.array([height for _, height in grid.sizes])
        self._ports = np.array(ports.upper), np.array(ports.lower)
        self._rises = np.array(grid.rises, np.bool_)
        rows_of_boxes = np.array(grid.rows, np.int64)
        self._shifts = np.array(rows.pages.shifts, np.float64)[pages[rows_of_boxes]]
        ends_page = np.append(pages[1:] != pages[:-1], True)
        self.is_step = ~ends_page[rows_of_boxes[self._upper]]
        self.is_step[[line for line, bends in enumerate(grid.bends) if bends]] = False
        self.is_step[list(corners)] = False

    def read(self, lines: range) -> Iterable[tuple[bool, float, float, float]]:
        """Tell of each line whether it is one, and then its x, where it starts, and where it
        ends."""
        these = slice(lines.start, lines.stop)
        upper, rises = self._upper[these], self._rises[these]
        x, lower_x = (ports[these] + self._shifts[upper] for ports in self._ports)
        top, bottom = self._bottoms[upper], self._tops[self._lower[these]]
        columns = (
            self.is_step[these] & (np.abs(lower_x - x) < 0.5),
            np.where(rises, lower_x, x),
            np.where(rises, bottom, top),
            np.where(rises, top, bottom),
        )
        return zip(*(column.tolist() for column in columns), strict=True)


def _step_course(grid: Grid, rows: Rows, line: int, ports: Ports) -> paths.Path:
    """Draw a line from one row to the next, on one page."""
    upper, lower = grid.upper[line], grid.lower[line]
    row = grid.rows[upper]
    shift = rows.pages.shifts[rows.pages.of_row[row]]
    top = ports.upper[line] + shift, rows.bottom_of(upper)
    bottom = ports.lower[line] + shift, rows.tops[lower]
    leaves, enters = rows.row_bottom[row], rows.row_top[row + 1]
    if grid.rises[line]:
        return paths.step(bottom, enters, leaves, top)
    return paths.step(top, leaves, enters, bottom)


def _soft_points(grid: Grid, rows: Rows, line: int, xs: list[float]) -> list[paths.Point]:
    """Find where a line passes the upper and lower edges of the rows on its way down."""
    upper, lower, row = grid.upper[line], grid.lower[line], grid.rows[grid.upper[line]]
    shifts, of_row, last = rows.pages.shifts, rows.pages.of_row, grid.rows[lower]
    points = [(xs[0] + shifts[of_row[row]], rows.bottom_of(upper))]
    for x in xs[:-1]:
        shift = shifts[of_row[row]]
        if len(points) > 1:
            points.append((x + shift, rows.row_top[row]))
        points.append((x + shifts[of_row[row + 1]], rows.row_bottom[row]))
        row += 1
    x = xs[-1] + shifts[of_row[last]]
    return [*points, (x, rows.row_top[last]), (x, rows.tops[lower])]


def _soft_course(
    grid: Grid, rows: Rows, line: int, xs: list[float], points: list[paths.Point]
) -> paths.Path:
    """Draw a line through ``points``, with ports where it leaves a page."""
    pages, first = rows.pages, grid.rows[grid.upper[line]]
    begin, end = pages.of_row[first], pages.of_row[grid.rows[grid.lower[line]]]
    rises = grid.rises[line]
    if begin == end and len(xs) == 2 and xs[0] == xs[1]:
        ends = (points[-1], points[0]) if rises else (points[0], points[-1])
        return ends[0], [ends[1]]
    if begin == end:
        return paths.soft(points[::-1] if rises else points)
    last, before = (pages.last_rows[page] - first for page in (begin, end - 1))
    leaves = pages.port(begin, xs[last], is_below=True)
    enters = pages.port(end, xs[before], is_below=False)
    path = paths.join(
        [
            paths.soft([*points[: 2 * last + 1], leaves]),
            paths.soft([enters, *points[2 * before + 1 :]]),
        ]
    )
    return paths.reverse(path) if rises else path
