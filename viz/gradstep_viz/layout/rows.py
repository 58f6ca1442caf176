"""Rows: the heights of the rows and of the channels between them, and the pages that they fill."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gradstep.graph.columns import Ints
from gradstep_viz import theme
from gradstep_viz.layout.columns import Floats, packed
from gradstep_viz.layout.compaction import HalfColumns
from gradstep_viz.layout.grid import Grid
from gradstep_viz.layout.halves import Halves
from gradstep_viz.layout.pages import Crossing, Pages, choose_pages, count_passing
from gradstep_viz.layout.ports import Ports, row_xs
from gradstep_viz.layout.relief import Relief
from gradstep_viz.layout.tracks import Anchor, Corner, Level
from gradstep_viz.picture.geometry import Rectangle
from gradstep_viz.picture.records import Records

TRACK_TOP = 16
TRACK_STEP = 17
SLANT = 0.26


class Spacing(NamedTuple):
    """Heights of the space between rows: without square lines, below these for labels, and how
    much is added at most where lines go far to the side."""

    row_gap: float
    label_space: float
    most_slant: float


ROOMY = Spacing(theme.ROW_GAP, 34, 80)
TIGHT = Spacing(38, 26, 36)
"""For pictures that would not fit a screen."""

SCREEN = 1100
"""The height of a picture that fits one."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The heights of a grid.

    The boxes of a row stand between its ``row_top`` and its ``track_top``; lines bend from its
    ``row_bottom`` on, which is the same, but at the end of a page: there the next page begins with
    it.  ``tops`` are those of the boxes, ``above`` is the channel above all rows, and ``bottom``
    the lower end of it all.
    """

    grid: Grid
    pages: Pages
    row_top: list[float]
    track_top: list[float]
    row_bottom: list[float]
    tops: list[float]
    above: float
    bottom: float

    def level(self, level: Level) -> float:
        """Return the y of a corner."""
        if isinstance(level, Anchor):
            box, share = level
            return round(self.tops[box] + share * self.grid.sizes[box][1])
        top = self.track_top[level.row] if level.row >= 0 else self.above
        return top + TRACK_TOP + level.track * TRACK_STEP

    def shift(self, level: Level) -> float:
        """Return how far to the right the page of a corner stands."""
        return self.pages.shifts[_page(self.grid, self.pages, level)]

    def points(self, corners: list[Corner]) -> list[list[tuple[float, float]]]:
        """Return the corners of a square line, on each of the pages between which it runs."""
        parts: list[list[tuple[float, float]]] = [[]]
        page = _page(self.grid, self.pages, corners[0][1])
        for x, level in corners:
            goal = _page(self.grid, self.pages, level)
            if goal != page:
                leaves, enters = (
                    (x + self.pages.shifts[one], self.pages.port(one, x, is_below=is_below)[1])
                    for one, is_below in ((page, page < goal), (goal, goal < page))
                )
                parts[-1].append(leaves)
                parts.append([enters])
            page = goal
            parts[-1].append((x + self.pages.shifts[page], self.level(level)))
        return parts

    def bottom_of(self, box: int) -> float:
        """Return the lower edge of a box."""
        return self.tops[box] + self.grid.sizes[box][1]

    def places(self, columns: HalfColumns) -> Records[Rectangle]:
        """Place the boxes."""
        shifts = np.array([self.pages.shifts[page] for page in self.pages.of_row], np.float64)
        x = packed(np.array(columns.left) + shifts[np.array(self.grid.rows, np.int64)])
        sizes = self.grid.sizes
        widths, heights = [width for width, _ in sizes], [height for _, height in sizes]
        return Records(Rectangle, x=x, y=self.tops, width=widths, height=heights)


def position_rows(
    grid: Grid,
    halves: Halves,
    ports: Ports,
    corners: dict[int, list[Corner]],
    tracks: dict[int, int],
    top: float,
    relief: Relief,
    count: int | None,
) -> Rows:
    """Give every row its height, every channel room for its ``tracks``, every box its place: below
    ``top``, on ``count`` pages if that is given."""
    spacing, channels = ROOMY, _channels(halves.columns.reach, tracks, ROOMY)
    if sum(grid.row_heights) + sum(channels) > SCREEN:
        spacing, channels = TIGHT, _channels(halves.columns.reach, tracks, TIGHT)
    for row, room in relief.rows.items():
        channels[row] += room
    pages = (
        Pages([], [0] * len(channels))
        if count == 1
        else _make_pages(grid, halves, ports, corners, channels, count)
    )
    above = top - TRACK_TOP
    pages.starts.append(top)
    if -1 in tracks:
        top += _channel(tracks[-1], spacing)
    start, bottom, last_rows = top, 0.0, set(pages.last_rows)
    row_top: list[float] = []
    track_top: list[float] = []
    row_bottom: list[float] = []
    for row, (height, channel) in enumerate(zip(grid.row_heights, channels, strict=True)):
        row_top.append(top)
        track_top.append(top + height)
        if row in last_rows:
            page = pages.of_row[row]
            pages.ends.append(top + height + _tracks_height(tracks, row))
            bottom = max(bottom, pages.ends[-1] + pages.room(page, is_below=True))
            pages.starts.append(start + pages.room(page + 1, is_below=False))
            row_bottom.append(pages.starts[-1])
            top = pages.starts[-1] + channel - _tracks_height(tracks, row)
        else:
            row_bottom.append(top + height)
            top += height + channel
    last = len(track_top) - 1
    bottom = max(bottom, track_top[-1] + _tracks_height(tracks, last) if track_top else top)
    tops = [
        row_top[row] + (grid.row_heights[row] - height) // 2
        for row, (_, height) in zip(grid.rows, grid.sizes, strict=True)
    ]
    return Rows(grid, pages, row_top, track_top, row_bottom, tops, above, bottom)


def _channels(reach: Floats, tracks: dict[int, int], spacing: Spacing) -> list[float]:
    """Return the least height between each row and the next, for square lines and soft ones."""
    slants = np.clip(
        np.floor((reach - 60) * SLANT), 0, spacing.most_slant
    )  # so that they stay soft
    heights: list[float] = (spacing.row_gap + slants).tolist()
    for row, count in tracks.items():
        if row >= 0:
            heights[row] = max(_channel(count, spacing), heights[row])
    return heights


def _channel(tracks: int, spacing: Spacing) -> float:
    space = TRACK_TOP + tracks * TRACK_STEP + spacing.label_space if tracks else 0
    return max(spacing.row_gap, space)


def _tracks_height(tracks: dict[int, int], row: int) -> float:
    return TRACK_TOP + tracks[row] * TRACK_STEP if row in tracks else 0


def _make_pages(
    grid: Grid,
    halves: Halves,
    ports: Ports,
    corners: dict[int, list[Corner]],
    channels: list[float],
    count: int | None,
) -> Pages:
    """Find where pages end, and all lines that run on into the next page."""
    pitches = [height + channel for height, channel in zip(grid.row_heights, channels, strict=True)]
    rows = np.array(grid.rows, np.int64)
    is_soft = np.ones(len(grid.arcs), np.bool_)
    is_soft[list(corners)] = False
    soft = np.flatnonzero(is_soft)
    firsts, lasts = (rows[np.array(ends, np.int64)[soft]] for ends in (grid.upper, grid.lower))
    lanes = _lane_spans(grid, corners)
    passing = count_passing(
        len(pitches),
        np.concatenate([firsts, lanes[:, 0]]),
        np.concatenate([lasts, lanes[:, 1]]),
    )
    width = halves.right - theme.MARGIN
    inside = functools.partial(_rows_inside, grid)
    pages = choose_pages(pitches, width, len(halves.columns.extent), passing, inside, count)
    if not pages:
        return pages
    crossings, kinds = list[Crossing](), grid.picture.lines.column("kind")
    of_row = np.array(pages.of_row, np.int64)
    turning = np.flatnonzero(of_row[firsts] != of_row[lasts])
    for line, first, last in zip(
        soft[turning].tolist(), firsts[turning].tolist(), lasts[turning].tolist(), strict=True
    ):
        xs = row_xs(grid, halves.columns, line, ports)
        start, goal = pages.of_row[first], pages.of_row[last]
        leaves, enters = (xs[pages.last_rows[page] - first] for page in (start, goal - 1))
        crossings.append(Crossing(start, leaves, goal, enters, kinds[line]))
    for line, way in corners.items():
        ends = grid.rows[grid.upper[line]], grid.rows[grid.lower[line]]
        if pages.of_row[max(0, min(ends) - 1)] == pages.of_row[max(ends)]:
            continue  # as nearly always, all of it is on one page
        for (_, before), (x, level) in pairwise(way):
            start, goal = sorted((_page(grid, pages, before), _page(grid, pages, level)))
            crossings += [Crossing(start, x, goal, x, kinds[line])] * (start < goal)
    pages.set_crossings(crossings, width)
    return pages


def _rows_inside(grid: Grid) -> frozenset[int]:
    """Find the rows below which a block of the program, or what has a frame, goes on; where it
    begins with a weight that is only transposed, it may begin further down."""
    rows, blocks = grid.rows, grid.picture.boxes.column("block")
    arcs = [
        (upper, lower)
        for arc, upper, lower in zip(grid.arcs, grid.upper, grid.lower, strict=True)
        if arc is not None
    ]
    entered = {lower for _, lower in arcs}
    spans = [
        (rows[upper], rows[lower])
        for upper, lower in arcs
        if upper in entered and blocks[upper] and blocks[upper] == blocks[lower]
    ]
    for frame in grid.picture.frames:
        in_rows = [rows[box] for box in frame.boxes]
        spans.append((min(in_rows), max(in_rows)))
    firsts, lasts = np.array(spans, np.int64).reshape(-1, 2).T
    passing = count_passing(len(grid.row_heights), firsts, lasts)
    return frozenset(row for row, count in enumerate(passing) if count)


def _page(grid: Grid, pages: Pages, level: Level) -> int:
    """Find the page that a corner is on."""
    row = grid.rows[level.box] if isinstance(level, Anchor) else level.row
    return pages.of_row[row] if row >= 0 else 0


def _lane_spans(grid: Grid, corners: dict[int, list[Corner]]) -> Ints:
    """Find the rows between which square lines run, from the first to the last; those that share a
    lane to one box are one."""
    lows: dict[tuple[int, float], int] = {}
    highs: dict[tuple[int, float], int] = {}
    rows = grid.rows
    for line, way in corners.items():
        upper, lower = grid.upper[line], grid.lower[line]
        low, high = rows[upper], rows[lower]
        if low == high:
            continue  # it passes no row
        end = lower
        if low > high:
            low, high, end = high, low, upper
        key = end, max([x for x, _ in way]) if len(way) > 2 else way[0][0]
        lows[key] = min(low, lows.get(key, low))
        highs[key] = max(high, highs.get(key, high))
    return np.array([[*lows.values()], [*highs.values()]], np.int64).T
