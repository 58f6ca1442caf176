"""Lanes beside a half, for lines of values and gradients that are too long for bends."""

from __future__ import annotations

from gradstep_viz.layout.grid import Grid
from gradstep_viz.layout.tracks import assign_tracks

SIDE_EDGE = 18
SIDE_STEP = 9
MOST_SIDE_LANES = 16


def side_lanes(grid: Grid) -> dict[int, int]:
    """Choose a lane beside its half for each line that is too long for bends; lines share by
    end."""
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
    """Return the width that the lanes of these lines take beside their half."""
    count = 1 + max((lanes[i] for i in lines), default=-1)
    return SIDE_EDGE + count * SIDE_STEP if count else 0.0
