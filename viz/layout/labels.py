"""Labels: beside their line, near the end where it is alone, and never on another label."""

from __future__ import annotations

from viz import geometry, theme
from viz.geometry import Label
from viz.layout import data_lines, paths
from viz.layout.grid import TRACK_STEP, Grid
from viz.layout.tracks import Corner

BESIDE = 6
HEIGHT = 12
CROWDED = 60
"""With more labels than this in one channel they all stand where they would like to."""

Rectangle = tuple[float, float, float, float]


def place_labels(
    grid: Grid,
    courses: list[paths.Path],
    corners: dict[int, list[Corner]],
    tracks: dict[int, int],
) -> list[Label | None]:
    """A place for the label of each line; None where there is no label or no room for it."""
    labels: list[Label | None] = [None] * len(courses)
    taken: dict[int, list[Rectangle]] = {}
    crowd = _loads(grid)
    for line, data in enumerate(grid.picture.lines):
        if not data.label:
            continue
        width = geometry.text_width(data.label, theme.MUTED_SIZE)
        if line in corners:
            labels[line] = _on_square(grid, corners[line], data.kind == "saved")
            continue
        upper, lower = data_lines.upper_and_lower(grid, line)
        at_lower = crowd.get((upper, True), 0) > crowd.get((lower, False), 0)
        channel = grid.row(lower) - 1 if at_lower else grid.row(upper)
        top = grid.row_bottom[channel] + TRACK_STEP * tracks.get(channel, 0)
        bottom = grid.row_top[channel + 1]
        path = paths.reverse(courses[line]) if data.kind == "gradient" else courses[line]
        x, away = _end_of(path, at_lower)
        rectangles = taken.setdefault(channel, [])
        labels[line] = _free_place(x, away, top, bottom, at_lower, width, rectangles)
    return labels


def _loads(grid: Grid) -> dict[tuple[int, bool], int]:
    """How many lines meet at the lower edge (True) and at the upper edge of each box."""
    loads: dict[tuple[int, bool], int] = {}
    for line, arc in enumerate(grid.arcs):
        if arc is not None:
            upper, lower = data_lines.upper_and_lower(grid, line)
            for end in ((upper, True), (lower, False)):
                loads[end] = loads.get(end, 0) + 1
    return loads


def _end_of(path: paths.Path, at_lower: bool) -> tuple[float, float]:
    """The x of one end of a course, and to which side it goes from there (0: straight on)."""
    start, segments = path
    if at_lower:
        end_x = segments[-1][-2]
        curved = [segment for segment in segments[-2:] if len(segment) == 6]
        return end_x, (curved[-1][0] - end_x) if curved else 0.0
    curved = [segment for segment in segments[:2] if len(segment) == 6]
    return start[0], (curved[0][-2] - start[0]) if curved else 0.0


def _free_place(
    x: float,
    away: float,
    top: float,
    bottom: float,
    at_lower: bool,
    width: float,
    taken: list[Rectangle],
) -> Label | None:
    """The first of a few places beside the line that no other label has; the outer side first."""
    share = 0.5 if abs(away) < 1 else 0.72 if at_lower else 0.34
    y = round(top + (bottom - top) * share + 4)
    sides = ("end", "start") if away > 1 else ("start", "end")
    shifts = (0, 12, -12) if bottom - top > 50 else (0,)
    for side in sides:
        for shift in shifts:
            left = x + BESIDE if side == "start" else x - BESIDE - width
            rectangle = (left, y + shift - HEIGHT, left + width, y + shift)
            if len(taken) > CROWDED or not any(_overlap(rectangle, other) for other in taken):
                taken.append(rectangle)
                return Label(x + BESIDE if side == "start" else x - BESIDE, y + shift, side)
    return None


def _overlap(a: Rectangle, b: Rectangle) -> bool:
    return a[0] < b[2] + 4 and b[0] < a[2] + 4 and a[1] < b[3] and b[1] < a[3]


def _on_square(grid: Grid, corners: list[Corner], is_saved: bool) -> Label:
    """Above the first level part of a square line."""
    points = grid.points(corners)
    index = next(i for i in range(len(points) - 1) if points[i][1] == points[i + 1][1])
    (x, y), (next_x, _) = points[index], points[index + 1]
    side = "start" if next_x >= x else "end"
    return Label(x + 8 if side == "start" else x - 8, y - 4, side)
