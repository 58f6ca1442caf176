"""The grid: which box stands in which row and column, before heights are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from autograd_core.dag.model import Half
from viz import theme
from viz.layout.columns import Floats, Space, assign_columns
from viz.layout.crossings import order_rows
from viz.layout.layers import Layers, make_layers
from viz.layout.pages import Pages
from viz.layout.ranks import Arc
from viz.layout.tracks import Anchor, Corner, Level
from viz.picture import geometry
from viz.picture.geometry import Place
from viz.picture.model import Box, Picture
from viz.picture.records import Records

BEND_WIDTH = 10
LANE_GAP = 20
TRACK_TOP = 16
TRACK_STEP = 17
SLANT = 0.26

BESIDE = 6
"""How far labels keep from lines."""

MANY = 4000
"""A picture with more lines than this is never seen whole."""


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


@dataclass(slots=True)
class Grid:
    """Vertices in rows and columns; heights are filled in by :meth:`set_rows`.

    Below a row, down to ``track_top``, lines run straight down; from ``row_bottom`` on they bend.

    ``halves``, ``sizes``, ``vertex`` and ``rows`` are those of each box.  ``sources`` and
    ``targets`` are the boxes at the ends of each line, ``upper`` and ``lower`` are the same from
    top to bottom, and ``rises`` says that the line runs upwards; ``arcs`` is its arc, None for
    saved values, ``bends`` are those of the arc, None where it has no lane between the boxes.
    ``x`` is common to both halves; ``columns`` are those of each, for all vertices, and ``extent``
    is how far it reaches; ``centers`` are those of the boxes, set by :meth:`set_halves`.
    ``row_heights`` are what the tallest box of each row needs, ``reach`` is how far the steps of
    lines below each row go to the side.
    """

    picture: Picture
    halves: Sequence[Half]
    sizes: list[tuple[int, int]]
    vertex: list[int]
    rows: list[int]
    sources: Sequence[int]
    targets: Sequence[int]
    upper: list[int]
    lower: list[int]
    rises: list[bool]
    arcs: list[Arc | None]
    bends: list[range | None]
    layers: Layers
    x: list[float]
    row_heights: list[int]
    reach: Floats
    columns: dict[Half, list[float]] = field(default_factory=dict)
    extent: dict[Half, tuple[float, float]] = field(default_factory=dict)
    centers: list[float] = field(default_factory=list)
    tops: list[float] = field(default_factory=list)
    pages: Pages = field(default_factory=lambda: Pages([], []))
    spacing: Spacing = ROOMY
    row_top: list[float] = field(default_factory=list)
    track_top: list[float] = field(default_factory=list)
    row_bottom: list[float] = field(default_factory=list)
    above: float = 0.0
    bottom: float = 0.0

    def set_columns(self, half: Half, columns: list[float], extent: tuple[float, float]) -> None:
        """Give a half its columns."""
        self.columns[half], self.extent[half] = columns, extent
        upper, lower = self.layers.steps
        rows = np.array(self.layers.ranks, np.int64)[upper]
        x = np.array(columns)
        np.maximum.at(self.reach, rows, np.abs(x[upper] - x[lower]))

    def set_halves(self, offset: dict[Half, float]) -> None:
        """Say how far the halves are moved to the right."""
        for half, columns in self.columns.items():
            low, high = self.extent[half]
            self.columns[half] = [x + offset[half] for x in columns]
            self.extent[half] = (low + offset[half], high + offset[half])
        self.centers = [
            self.columns[half][vertex]
            for vertex, half in zip(self.vertex, self.halves, strict=True)
        ]

    def left(self, box: int) -> float:
        return self.centers[box] - self.sizes[box][0] // 2

    def right(self, box: int) -> float:
        return self.left(box) + self.sizes[box][0]

    def level(self, level: Level) -> float:
        """The y of a corner, once rows and tracks are set."""
        if isinstance(level, Anchor):
            return round(self.tops[level.box] + level.share * self.sizes[level.box][1])
        top = self.track_top[level.row] if level.row >= 0 else self.above
        return top + TRACK_TOP + level.track * TRACK_STEP

    def page(self, level: Level) -> int:
        """The page that a corner is on."""
        row = self.rows[level.box] if isinstance(level, Anchor) else level.row
        return self.pages.of_row[row] if row >= 0 else 0

    def shift(self, level: Level) -> float:
        """How far to the right the page of a corner stands."""
        return self.pages.shifts[self.page(level)]

    def points(self, corners: list[Corner]) -> list[tuple[float, float]]:
        """The corners of a square line, with those where it turns into another page."""
        found: list[tuple[float, float]] = []
        page = self.page(corners[0][1])
        for x, level in corners:
            goal = self.page(level)
            for end in range(page, goal):
                found += self.pages.turn(end, x)
            for end in range(page - 1, goal - 1, -1):
                found += self.pages.turn(end, x)[::-1]
            page = goal
            found.append((x + self.pages.shifts[page], self.level(level)))
        return found

    def channels(self, tracks: dict[int, int]) -> list[float]:
        """The least height between each row and the next, for square lines and soft ones."""
        gap, most = self.spacing.row_gap, self.spacing.most_slant
        slants = np.clip(np.floor((self.reach - 60) * SLANT), 0, most)  # so that they stay soft
        return [
            max(self._channel(tracks.get(row, 0)), gap + slant)
            for row, slant in enumerate(slants.tolist())
        ]

    def _channel(self, tracks: int) -> float:
        space = TRACK_TOP + tracks * TRACK_STEP + self.spacing.label_space if tracks else 0
        return max(self.spacing.row_gap, space)

    def set_spacing(self, tracks: dict[int, int]) -> None:
        """Move the rows together where the picture would be too tall for a screen."""
        if sum(self.row_heights) + sum(self.channels(tracks)) > SCREEN:
            self.spacing = TIGHT

    def set_rows(self, top: float, tracks: dict[int, int], pages: Pages) -> None:
        """Give every row its height, every channel room for its tracks, every box its place."""
        self.pages = pages
        self.above = top - TRACK_TOP
        pages.starts.append(top)
        if -1 in tracks:
            top += self._channel(tracks[-1])
        last_rows = set(pages.last_rows)
        heights, channels = self.row_heights, self.channels(tracks)
        start = top
        for row, (height, channel) in enumerate(zip(heights, channels, strict=True)):
            self.row_top.append(top)
            self.track_top.append(top + height)
            if row in last_rows:
                page = pages.of_row[row]
                pages.ends.append(top + height + _tracks_height(tracks, row))
                self.bottom = max(self.bottom, pages.ends[-1] + pages.room(page))
                pages.starts.append(start + pages.room(page))
                self.row_bottom.append(pages.starts[-1])
                top = pages.starts[-1] + channel - _tracks_height(tracks, row)
            else:
                self.row_bottom.append(top + height)
                top += height + channel
        last = len(heights) - 1
        below = self.track_top[-1] + _tracks_height(tracks, last) if heights else top
        self.bottom = max(self.bottom, below)
        self.tops = [
            self.row_top[row] + (heights[row] - height) // 2
            for row, (_, height) in zip(self.rows, self.sizes, strict=True)
        ]

    def places(self) -> Records[Place]:
        """Where the boxes stand, once rows and pages are set."""
        shifts = [self.pages.shifts[page] for page in self.pages.of_row]
        boxes = zip(self.centers, self.rows, self.sizes, strict=True)
        x = [center - width // 2 + shifts[row] for center, row, (width, _) in boxes]
        widths, heights = [width for width, _ in self.sizes], [height for _, height in self.sizes]
        return Records(Place, x=x, y=self.tops, width=widths, height=heights)

    def bottom_of(self, box: int) -> float:
        """The lower edge of a box."""
        return self.tops[box] + self.sizes[box][1]


def _tracks_height(tracks: dict[int, int], row: int) -> float:
    return TRACK_TOP + tracks[row] * TRACK_STEP if row in tracks else 0


def make_grid(picture: Picture) -> Grid:
    """Rows and columns for all boxes; a box and its partner in the other half share both."""
    boxes, lines = picture.boxes, picture.lines
    vertex, count = _vertices(boxes)
    kinds, sources, targets = map(lines.column, ("kind", "source", "target"))
    upper, lower = _from_top(kinds, sources, targets), _from_top(kinds, targets, sources)
    arcs = [
        None if kind == "saved" else (vertex[one], vertex[other])
        for kind, one, other in zip(kinds, upper, lower, strict=True)
    ]
    by_operand = sorted(range(len(arcs)), key=lines.column("operand").__getitem__)
    layers = make_layers(count, [arc for line in by_operand if (arc := arcs[line]) is not None])
    order_rows(layers)
    sizes = geometry.box_sizes(boxes)
    gap = theme.COLUMN_GAP + (8 if picture.view == "both" else 0)
    rooms = _rooms(layers, arcs, lines.column("label"))
    x = assign_columns(layers, Space(_widths(layers, vertex, sizes), rooms, gap, LANE_GAP))
    rows = [layers.ranks[one] for one in vertex]
    return Grid(
        picture=picture, halves=boxes.column("half"), sizes=sizes, vertex=vertex, rows=rows,
        sources=sources, targets=targets, upper=upper, lower=lower,
        rises=[kind == "gradient" for kind in kinds], arcs=arcs,
        bends=[None if arc is None else layers.chains.get(arc) for arc in arcs],
        layers=layers, x=(np.round(x) + 0.0).tolist(),
        row_heights=_row_heights(len(layers.rows), rows, sizes), reach=np.zeros(len(layers.rows)),
    )  # fmt: skip


def _vertices(boxes: Records[Box]) -> tuple[list[int], int]:
    halves, pairs = boxes.column("half"), boxes.column("pair")
    vertex = [-1] * len(boxes)
    count = 0
    for index, pair in enumerate(pairs):
        if vertex[index] >= 0:
            continue
        vertex[index] = count
        if pair is not None and vertex[pair] < 0 and halves[pair] != halves[index]:
            vertex[pair] = count
        count += 1
    return vertex, count


def _from_top(kinds: Sequence[str], sources: Sequence[int], targets: Sequence[int]) -> list[int]:
    """The boxes at the upper ends of lines: values flow down, gradients up."""
    ends = zip(kinds, sources, targets, strict=True)
    return [target if kind == "gradient" else source for kind, source, target in ends]


def _widths(layers: Layers, vertex: list[int], sizes: Sequence[tuple[int, int]]) -> Floats:
    """The width of every vertex: that of its widest box."""
    widths = np.full(len(layers.ranks), float(BEND_WIDTH))
    np.maximum.at(widths, np.array(vertex, np.int64), [width for width, _ in sizes])
    return widths


def _rooms(layers: Layers, arcs: Sequence[Arc | None], labels: Sequence[str]) -> Floats:
    """What the labels beside lines to the next row take to the right of the boxes at both ends; in
    a picture that nobody sees whole, nothing."""
    rooms = np.zeros(len(layers.ranks))
    if len(arcs) > MANY:
        return rooms
    for arc, label in zip(arcs, labels, strict=True):
        if arc is not None and label and layers.ranks[arc[1]] - layers.ranks[arc[0]] == 1:
            room = geometry.text_width(label, theme.MUTED_SIZE) + 2 * BESIDE
            for end in arc:
                rooms[end] = max(rooms[end], room)
    return rooms


def _row_heights(count: int, rows: Sequence[int], sizes: Sequence[tuple[int, int]]) -> list[int]:
    heights = np.zeros(count, np.int64)
    np.maximum.at(heights, np.array(rows, np.int64), [height for _, height in sizes])
    found: list[int] = heights.tolist()
    return found
