"""Ports: where lines of values and gradients leave boxes and enter others."""

from __future__ import annotations

import functools
from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.columns import Ints
from gradstep_viz.layout.columns import Floats, packed
from gradstep_viz.layout.compaction import PORT_STEP, HalfColumns
from gradstep_viz.layout.grid import Grid
from gradstep_viz.layout.halves import Halves

CLOSEST_PORTS = 14
PORT_SPREAD = 0.34

Truths = NDArray[np.bool_]


class Ports(NamedTuple):
    """Where each line leaves its upper box, and where it enters its lower one."""

    upper: array[float]
    lower: array[float]


def choose_ports(grid: Grid, halves: Halves) -> Ports:
    """Spread the lines along the edges of the boxes, in the order in which they go away.

    A line that is alone on its edge keeps the middle.
    """
    centers = np.array(halves.columns.centers)
    upper, lower = np.array(grid.upper, np.int64), np.array(grid.lower, np.int64)
    is_data = np.array([arc is not None for arc in grid.arcs], np.bool_)
    goals = centers[lower], centers[upper]
    for line, bends in enumerate(grid.bends):
        if bends:
            columns = halves.columns.x[grid.halves[grid.upper[line]]]
            goals[0][line], goals[1][line] = columns[bends[0]], columns[bends[-1]]
    for line, x in halves.lanes.items():
        goals[0][line] = goals[1][line] = x
    return Ports(
        _attached(grid, upper, is_data, centers, goals[0]),
        _attached(grid, lower, is_data, centers, goals[1]),
    )


def _attached(
    grid: Grid, boxes: Ints, is_data: Truths, centers: Floats, goals: Floats
) -> array[float]:
    """Find where lines are attached to one edge of their ``boxes`` when they go to ``goals``."""
    company = np.bincount(boxes[is_data], minlength=len(centers))
    crowded = np.flatnonzero(is_data & (company[boxes] > 1))
    away = goals[crowded] - centers[boxes[crowded]]
    order = np.lexsort((crowded, away, boxes[crowded]))
    lines, away = crowded[order].tolist(), away[order].tolist()
    ports = packed(centers[boxes])
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
    """Choose ports for lines that go ``away`` so far, in order: straight where possible, else even.

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


def row_xs(grid: Grid, columns: HalfColumns, line: int, ports: Ports) -> list[float]:
    """Find where a soft line passes each row on its way down, as if there were no pages."""
    bends = grid.bends[line]
    if not bends:
        return [ports.upper[line], ports.lower[line]]
    x, shift = columns.x[grid.halves[grid.upper[line]]], _parallel_shift(grid, line)
    return [ports.upper[line], *[x[bend] + shift for bend in bends], ports.lower[line]]


def _parallel_shift(grid: Grid, line: int) -> float:
    """Keep two lines between the same two boxes apart, where they share a lane."""
    if line and grid.arcs[line - 1] == grid.arcs[line]:
        before = grid.sources[line - 1], grid.targets[line - 1]
        if before == (grid.sources[line], grid.targets[line]):
            return 5.0
    return 0.0
