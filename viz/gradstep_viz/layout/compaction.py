"""Compaction: how wide each half is, once it has closed the gaps that the other half needs.

Both halves have the columns of one grid, so that each is the mirror of the other.  Where a
half has nothing in a column, or something narrow, it moves together; order stays as it is.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.columns import Ints
from gradstep.graph.model import Half
from gradstep_viz import theme
from gradstep_viz.layout.columns import Floats, packed
from gradstep_viz.layout.grid import BEND_WIDTH, Grid
from gradstep_viz.layout.tracks import Span
from gradstep_viz.picture import geometry

WIDEST_GAP = 64
LABEL_AWAY = 10
PORT_STEP = 34


@dataclass(frozen=True, slots=True)
class HalfColumns:
    """The columns of each half.

    ``x`` are the centres of all vertices there, ``extent`` is how far the half reaches, ``reach``
    how far the steps of lines below each row go to the side.  ``centers``, ``left`` and ``right``
    are those of the boxes.
    """

    x: dict[Half, array[float]]
    extent: dict[Half, Span]
    reach: Floats
    centers: array[float]
    left: array[float]
    right: array[float]


def compact(grid: Grid) -> HalfColumns:
    """Let each half close the gaps that only the other one needs."""
    upper, lower = grid.layers.steps
    rows = np.array(grid.layers.ranks, np.int64)[upper]
    reach = np.zeros(len(grid.layers.rows))
    x: dict[Half, Floats] = {}
    extent: dict[Half, Span] = {}
    for half in grid.picture.halves:
        places, extent[half] = close_gaps(*_occupied(grid, half, np.array(grid.x)), grid.x)
        np.maximum.at(reach, rows, np.abs(places[upper] - places[lower]))
        x[half] = places
    return columns_of(grid, x, extent, reach)


def columns_of(
    grid: Grid, x: dict[Half, Floats], extent: dict[Half, Span], reach: Floats
) -> HalfColumns:
    """Collect the columns of all vertices in each half, with what follows for the boxes."""
    vertex, centers = np.array(grid.vertex, np.int64), np.zeros(len(grid.vertex))
    for half, places in x.items():
        ours = np.array([other == half for other in grid.halves], np.bool_)
        centers[ours] = places[vertex[ours]]
    widths = np.array([width for width, _ in grid.sizes], np.int64)
    left = centers - widths // 2
    return HalfColumns(
        {half: packed(places) for half, places in x.items()}, extent, reach,
        packed(centers), packed(left), packed(left + widths),
    )  # fmt: skip


def _occupied(grid: Grid, half: Half, x: Floats) -> tuple[Floats, Floats]:
    """Find from where to where the boxes, lanes and labels of a half reach, whatever their row."""
    is_ours = np.array([other == half for other in grid.halves], np.bool_)
    boxes = np.flatnonzero(is_ours)
    centers = x[np.array(grid.vertex, np.int64)[boxes]]
    sizes = np.array([width for width, _ in grid.sizes])[boxes] / 2
    is_data = np.array([arc is not None for arc in grid.arcs], np.bool_)
    lines = np.flatnonzero(is_data & is_ours[np.array(grid.sources, np.int64)]).tolist()
    bends = [bend for line in lines if (way := grid.bends[line]) for bend in way]
    lows, highs = [centers - sizes, x[bends] - BEND_WIDTH], [centers + sizes, x[bends] + BEND_WIDTH]
    for low, high in _labels(grid, lines, x):
        lows.append(low)
        highs.append(high)
    return np.concatenate(lows), np.concatenate(highs)


def _labels(grid: Grid, lines: Sequence[int], x: Floats) -> list[tuple[Floats, Floats]]:
    """Find where labels may stand: to the right of both ends of their line, or of its lane, and to
    the left where that is where it comes from, or where another line runs at its right."""
    texts = grid.picture.lines.column("label")
    arcs = np.array([grid.arcs[line] for line in lines], np.int64).reshape(-1, 2)
    ends = arcs[:, 0] * len(x) + arcs[:, 1]
    _, which, count = np.unique(ends, return_inverse=True, return_counts=True)
    labelled = np.array([bool(texts[line]) for line in lines], np.bool_)
    apart = ((count[which] - 1) * PORT_STEP / 2)[labelled]  # parallel lines, right and left of x
    arcs, lines = arcs[labelled], [line for line in lines if texts[line]]
    room = np.array([geometry.text_width(texts[line], theme.MUTED_SIZE) for line in lines])
    room += LABEL_AWAY
    upper, lower = x[arcs[:, 0]], x[arcs[:, 1]]
    slanting, leftwards = lower != upper, upper < lower
    beside = np.ones(len(lines), bool)
    beside[np.unique(ends[labelled], return_index=True)[1]] = False
    passed = _passed(grid, arcs, x) & ~slanting & ~beside
    lanes = [(x[bends[len(bends) // 2]], room[at]) for at, line in enumerate(lines)
             if (bends := grid.bends[line])]  # fmt: skip
    lane, lane_room = np.array(lanes, np.float64).reshape(-1, 2).T
    return [
        (upper, upper + room + apart),
        (lower[slanting], (lower + room)[slanting]),
        ((upper - room)[leftwards | passed], upper[leftwards | passed]),
        ((upper - room - PORT_STEP / 2)[beside], upper[beside]),
        (lane, lane + lane_room),
    ]


def _passed(grid: Grid, arcs: Ints, x: Floats) -> NDArray[np.bool_]:
    """Tell which of ``arcs`` have a line at their right that leaves, or joins, at the same box."""
    heads, tails = grid.layers.steps
    leaves, joins = np.zeros(len(x), bool), np.zeros(len(x), bool)
    leaves[heads[x[tails] > x[heads]]] = True
    joins[tails[x[heads] > x[tails]]] = True
    passed: NDArray[np.bool_] = leaves[arcs[:, 0]] | joins[arcs[:, 1]]
    return passed


def close_gaps(lows: Floats, highs: Floats, x: Sequence[float]) -> tuple[Floats, Span]:
    """Move each x so that no gap between the spans is too wide; returns where it all ends, too.

    >>> spans = np.array([0.0, 300.0, 20.0]), np.array([100.0, 400.0, 130.0])
    >>> x, extent = close_gaps(*spans, [50, 350])
    >>> x.tolist(), extent
    ([50.0, 244.0], (0.0, 294.0))
    """
    order = np.argsort(lows, kind="stable")
    lows, reach = lows[order], np.maximum.accumulate(highs[order])
    surplus = np.maximum(lows[1:] - reach[:-1] - WIDEST_GAP, 0.0)
    wide = np.flatnonzero(surplus)
    shifts = np.concatenate(([0.0], np.cumsum(np.floor(surplus[wide]))))
    places = np.array(x, np.float64)
    moved = places - shifts[np.searchsorted(lows[1:][wide], places, "right")]
    return moved, (float(lows[0]), float(reach[-1] - shifts[-1]))
