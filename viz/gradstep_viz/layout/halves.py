"""Halves: where each stands, with the lanes beside it for lines of values and gradients that are
too long for bends."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from gradstep.graph.model import Half
from gradstep_viz import theme
from gradstep_viz.layout.compaction import HalfColumns, columns_of
from gradstep_viz.layout.grid import Grid
from gradstep_viz.layout.relief import Relief
from gradstep_viz.layout.saved import SavedLine, gutter_edge, gutter_width
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


class Halves(NamedTuple):
    """The halves side by side: their columns, the x of the lines in ``lanes`` beside them, where
    the lanes of the gutter end, and how far all this reaches to the ``right``."""

    columns: HalfColumns
    lanes: dict[int, float]
    gutter_lanes: float
    right: float


def place_halves(
    grid: Grid,
    columns: HalfColumns,
    saved: Sequence[SavedLine],
    lanes: dict[int, int],
    relief: Relief,
) -> Halves:
    """Place the halves side by side; long lanes run left of the forward, right of the backward."""
    by_half: dict[str, list[int]] = {"forward": [], "backward": []}
    for line in lanes:
        by_half[grid.halves[grid.sources[line]]].append(line)
    x: float = theme.MARGIN
    lane_x: dict[int, float] = {}
    offset: dict[Half, float] = {}
    if "forward" in columns.extent:
        low, high = columns.extent["forward"]
        x += side_room(lanes, by_half["forward"])
        for line in by_half["forward"]:
            lane_x[line] = x - SIDE_EDGE - lanes[line] * SIDE_STEP
        offset["forward"] = round(x - low)
        x = offset["forward"] + high
    gutter_lanes = x
    if "backward" in columns.extent:
        low, high = columns.extent["backward"]
        if "forward" in columns.extent:
            x += gutter_width(grid, columns, saved, relief.gutter)
        offset["backward"] = round(x - low)
        gutter_lanes = float(round(x)) - gutter_edge(columns, saved)
        x = offset["backward"] + high
        for line in by_half["backward"]:
            lane_x[line] = x + SIDE_EDGE + lanes[line] * SIDE_STEP
        x += side_room(lanes, by_half["backward"])
    return Halves(_moved(grid, columns, offset), lane_x, gutter_lanes, float(ceil(x)))


def _moved(grid: Grid, columns: HalfColumns, offset: dict[Half, float]) -> HalfColumns:
    """Move the columns of each half so much further to the right."""
    x = {half: np.array(places) + offset[half] for half, places in columns.x.items()}
    extent = {
        half: (low + offset[half], high + offset[half])
        for half, (low, high) in columns.extent.items()
    }
    return columns_of(grid, x, extent, columns.reach)
