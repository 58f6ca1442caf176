"""Lines of values and gradients: where they leave and enter boxes, and their long lanes."""

from __future__ import annotations

from viz.layout import paths
from viz.layout.grid import Grid
from viz.layout.tracks import Anchor, Corner, assign_tracks, run

SIDE_EDGE = 18
SIDE_STEP = 9
MOST_SIDE_LANES = 16
PORT_STEP = 26
PORT_SPREAD = 0.36

Ports = dict[tuple[int, bool], float]
"""Distance from the centre of the box, for each line and end; True is the upper end."""


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
    return grid.row(data.source), grid.row(data.target)


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


def upper_and_lower(grid: Grid, line: int) -> tuple[int, int]:
    """The box at the upper and the box at the lower end of a line of data."""
    data = grid.picture.lines[line]
    if data.kind == "value":
        return data.source, data.target
    return data.target, data.source


def choose_ports(grid: Grid, lane_x: dict[int, float]) -> Ports:
    """Spread the lines along the edges of the boxes, in the order in which they go away.

    A line that goes straight up or down keeps the middle.
    """
    ends: dict[tuple[int, bool], list[tuple[float, int]]] = {}
    for line, arc in enumerate(grid.arcs):
        if arc is None:
            continue
        upper, lower = upper_and_lower(grid, line)
        half_offset = grid.offset[grid.picture.boxes[upper].half]
        bends = grid.layers.chains.get(arc, ())
        down, up = grid.center(lower), grid.center(upper)
        if line in lane_x:
            down = up = lane_x[line]
        elif bends:
            down, up = grid.x[bends[0]] + half_offset, grid.x[bends[-1]] + half_offset
        ends.setdefault((upper, True), []).append((down, line))
        ends.setdefault((lower, False), []).append((up, line))
    ports: Ports = {}
    for (box, is_upper), lines in ends.items():
        center = grid.center(box)
        lines.sort()
        straight = [i for i, (x, _) in enumerate(lines) if abs(x - center) < 1]
        middle = sum(straight) / len(straight) if straight else (len(lines) - 1) / 2
        most = max(middle, len(lines) - 1 - middle)
        step = min(PORT_STEP, grid.sizes[box][0] * PORT_SPREAD / most) if most else 0
        for index, (_, line) in enumerate(lines):
            ports[line, is_upper] = round((index - middle) * step, 1)
    return ports


def soft_points(grid: Grid, line: int, ports: Ports) -> list[paths.Point]:
    """Where a line passes the upper and lower edges of the rows on its way down."""
    arc = grid.arcs[line]
    assert arc is not None
    upper, lower = upper_and_lower(grid, line)
    half_offset = grid.offset[grid.picture.boxes[upper].half]
    start, end = grid.places[upper], grid.places[lower]
    x = start.center + ports[line, True]
    points = [(x, start.bottom), (x, grid.row_bottom[grid.row(upper)])]
    shift = _parallel_shift(grid, line)
    for bend in grid.layers.chains[arc]:
        x, row = grid.x[bend] + half_offset + shift, grid.layers.ranks[bend]
        points += [(x, grid.row_top[row]), (x, grid.row_bottom[row])]
    x = end.center + ports[line, False]
    return [*points, (x, grid.row_top[grid.row(lower)]), (x, end.y)]


def _parallel_shift(grid: Grid, line: int) -> float:
    """Keep two lines between the same two boxes apart, where they share a lane."""
    if line and grid.arcs[line - 1] == grid.arcs[line]:
        before, data = grid.picture.lines[line - 1], grid.picture.lines[line]
        if (before.source, before.target) == (data.source, data.target):
            return 5.0
    return 0.0


def lane_corners(grid: Grid, line: int, ports: Ports, lane_x: float) -> list[Corner]:
    """The square course of a line that runs beside its half."""
    upper, lower = upper_and_lower(grid, line)
    x = grid.center(upper) + ports[line, True]
    end_x = grid.center(lower) + ports[line, False]
    out = run(grid.row(upper), x, lane_x)
    into = run(grid.row(lower) - 1, lane_x, end_x)
    return [
        (x, Anchor(upper, 1.0)),
        (x, out),
        (lane_x, out),
        (lane_x, into),
        (end_x, into),
        (end_x, Anchor(lower, 0.0)),
    ]
