"""The grid: which box stands in which row and column, before heights are known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from autograd_core.dag.model import Half
from viz import geometry, theme
from viz.geometry import Place
from viz.layout.columns import assign_columns
from viz.layout.crossings import order_rows
from viz.layout.halves import BEND_WIDTH, close_gaps, occupied
from viz.layout.layers import Layers, make_layers
from viz.layout.pages import Pages
from viz.layout.ranks import Arc
from viz.layout.tracks import Anchor, Corner, Level
from viz.picture import Line, Picture

LANE_GAP = 20
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


@dataclass(slots=True)
class Grid:
    """Vertices in rows and columns; heights are filled in by :meth:`set_rows`.

    Below a row, down to ``track_top``, lines run straight down; from ``row_bottom`` on they bend.

    ``vertex`` and ``rows`` are those of each box; ``upper`` and ``lower`` are the boxes at the
    ends of each line, ``arcs`` its arc, None for saved values.  ``x`` is common to
    both halves; ``columns`` are those of each, for all vertices, and ``extent`` is how far it
    reaches; ``centers`` are those of the boxes, set by :meth:`set_halves`.
    """

    picture: Picture
    sizes: list[tuple[int, int]]
    vertex: list[int]
    rows: list[int]
    upper: list[int]
    lower: list[int]
    arcs: list[Arc | None]
    layers: Layers
    x: list[float]
    columns: dict[Half, list[float]] = field(default_factory=dict)
    extent: dict[Half, tuple[float, float]] = field(default_factory=dict)
    centers: list[float] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    pages: Pages = field(default_factory=lambda: Pages([], []))
    spacing: Spacing = ROOMY
    row_top: list[float] = field(default_factory=list)
    track_top: list[float] = field(default_factory=list)
    row_bottom: list[float] = field(default_factory=list)
    above: float = 0.0
    bottom: float = 0.0

    def set_halves(self, offset: dict[Half, float]) -> None:
        """Say how far the halves are moved to the right."""
        for half, columns in self.columns.items():
            low, high = self.extent[half]
            self.columns[half] = [x + offset[half] for x in columns]
            self.extent[half] = (low + offset[half], high + offset[half])
        self.centers = [
            self.columns[box.half][vertex]
            for vertex, box in zip(self.vertex, self.picture.boxes, strict=True)
        ]

    def left(self, box: int) -> float:
        return self.centers[box] - self.sizes[box][0] // 2

    def right(self, box: int) -> float:
        return self.left(box) + self.sizes[box][0]

    def level(self, level: Level) -> float:
        """The y of a corner, once rows and tracks are set."""
        if isinstance(level, Anchor):
            place = self.places[level.box]
            return round(place.y + level.share * place.height)
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

    def row_heights(self) -> list[int]:
        """What the tallest box of each row needs."""
        heights = [0] * len(self.layers.rows)
        for row, (_, height) in zip(self.rows, self.sizes, strict=True):
            if height > heights[row]:
                heights[row] = height
        return heights

    def channels(self, tracks: dict[int, int]) -> list[float]:
        """The least height between each row and the next, for square lines and soft ones."""
        gap = self.spacing.row_gap
        return [
            max(self._channel(tracks.get(row, 0)), gap + slant)
            for row, slant in enumerate(_slants(self))
        ]

    def _channel(self, tracks: int) -> float:
        space = TRACK_TOP + tracks * TRACK_STEP + self.spacing.label_space if tracks else 0
        return max(self.spacing.row_gap, space)

    def set_spacing(self, tracks: dict[int, int]) -> None:
        """Move the rows together where the picture would be too tall for a screen."""
        if sum(self.row_heights()) + sum(self.channels(tracks)) > SCREEN:
            self.spacing = TIGHT

    def set_rows(self, top: float, tracks: dict[int, int], pages: Pages) -> None:
        """Give every row its height, every channel room for its tracks, every box its place."""
        self.pages = pages
        self.above = top - TRACK_TOP
        pages.starts.append(top)
        if -1 in tracks:
            top += self._channel(tracks[-1])
        last_rows = set(pages.last_rows)
        heights, channels = self.row_heights(), self.channels(tracks)
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
        shifts = [pages.shifts[page] for page in pages.of_row]
        boxes = zip(self.centers, self.rows, self.sizes, strict=True)
        for center, row, (width, height) in boxes:
            x = center - width // 2 + shifts[row]
            y = self.row_top[row] + (heights[row] - height) // 2
            self.places.append(Place(x, y, width, height))


def _tracks_height(tracks: dict[int, int], row: int) -> float:
    return TRACK_TOP + tracks[row] * TRACK_STEP if row in tracks else 0


def _slants(grid: Grid) -> list[float]:
    """Extra height for the channels in which lines go far to the side, so that they stay soft."""
    upper, lower = grid.layers.steps
    rows = np.array(grid.layers.ranks, np.int64)[upper]
    widest = np.zeros(len(grid.layers.rows))
    for columns in grid.columns.values():
        x = np.array(columns)
        np.maximum.at(widest, rows, np.abs(x[upper] - x[lower]))
    slants = np.clip(np.floor((widest - 60) * SLANT), 0, grid.spacing.most_slant)
    return [float(slant) for slant in slants.tolist()]


def make_grid(picture: Picture) -> Grid:
    """Rows and columns for all boxes; a box and its partner in the other half share both."""
    vertex, count = _vertices(picture)
    ends = [_upper_and_lower(line) for line in picture.lines]
    arcs = [
        None if line.kind == "saved" else (vertex[upper], vertex[lower])
        for line, (upper, lower) in zip(picture.lines, ends, strict=True)
    ]
    by_operand = sorted(range(len(arcs)), key=lambda line: picture.lines[line].operand)
    layers = make_layers(count, [arc for i in by_operand if (arc := arcs[i]) is not None])
    order_rows(layers)
    sizes = [geometry.box_size(box) for box in picture.boxes]
    widths = [float(BEND_WIDTH)] * len(layers.ranks)
    for box, (width, _) in enumerate(sizes):
        widths[vertex[box]] = max(widths[vertex[box]], width)
    gap = theme.COLUMN_GAP + (8 if picture.view == "both" else 0)
    x = [float(round(x)) for x in assign_columns(layers, widths, gap, LANE_GAP)]
    grid = Grid(
        picture=picture,
        sizes=sizes,
        vertex=vertex,
        rows=[layers.ranks[one] for one in vertex],
        upper=[upper for upper, _ in ends],
        lower=[lower for _, lower in ends],
        arcs=arcs,
        layers=layers,
        x=x,
    )
    for half in picture.halves:
        spans = occupied(picture, half, vertex, sizes, arcs, layers, x)
        grid.columns[half], grid.extent[half] = close_gaps(spans, x)
    return grid


def _vertices(picture: Picture) -> tuple[list[int], int]:
    vertex = [-1] * len(picture.boxes)
    count = 0
    for index, box in enumerate(picture.boxes):
        if vertex[index] >= 0:
            continue
        vertex[index] = count
        pair = box.pair
        if pair is not None and vertex[pair] < 0 and picture.boxes[pair].half != box.half:
            vertex[pair] = count
        count += 1
    return vertex, count


def _upper_and_lower(line: Line) -> tuple[int, int]:
    """The boxes at the ends of a line: values flow down, gradients up."""
    if line.kind == "gradient":
        return line.target, line.source
    return line.source, line.target
