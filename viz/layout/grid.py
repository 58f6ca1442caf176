"""The grid: which box stands in which row and column, before heights are known."""

from __future__ import annotations

from dataclasses import dataclass, field

from autograd_core.dag.model import Half
from viz import geometry, theme
from viz.geometry import Place
from viz.layout.columns import assign_columns
from viz.layout.layers import Arc, Layers, make_layers, order_rows
from viz.layout.tracks import Anchor, Corner, Level
from viz.picture import Picture

BEND_WIDTH = 10
LANE_GAP = 20
TRACK_TOP = 16
TRACK_STEP = 17
LABEL_SPACE = 34


@dataclass(slots=True)
class Grid:
    """Vertices in rows and columns; heights are filled in by :meth:`set_rows`.

    ``vertex`` is the vertex of each box, ``arcs`` the arc of each line of data, from its
    upper to its lower end, None for saved values.  ``x`` counts from the left edge of a half,
    ``offset`` says where that edge is.
    """

    picture: Picture
    sizes: list[tuple[int, int]]
    vertex: list[int]
    arcs: list[Arc | None]
    layers: Layers
    x: list[float]
    extent: dict[Half, tuple[float, float]]
    offset: dict[Half, float] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)
    row_top: list[float] = field(default_factory=list)
    row_bottom: list[float] = field(default_factory=list)
    above: float = 0.0

    def row(self, box: int) -> int:
        return self.layers.ranks[self.vertex[box]]

    def center(self, box: int) -> float:
        return self.x[self.vertex[box]] + self.offset[self.picture.boxes[box].half]

    def left(self, box: int) -> float:
        return self.center(box) - self.sizes[box][0] // 2

    def right(self, box: int) -> float:
        return self.left(box) + self.sizes[box][0]

    def level(self, level: Level) -> float:
        """The y of a corner, once rows and tracks are set."""
        if isinstance(level, Anchor):
            place = self.places[level.box]
            return round(place.y + level.share * place.height)
        top = self.row_bottom[level.row] if level.row >= 0 else self.above
        return top + TRACK_TOP + level.track * TRACK_STEP

    def points(self, corners: list[Corner]) -> list[tuple[float, float]]:
        return [(x, self.level(level)) for x, level in corners]

    def set_rows(self, top: float, tracks: dict[int, int]) -> None:
        """Give every row its height, and every channel room for its tracks."""
        self.above = top - TRACK_TOP
        if -1 in tracks:
            top += _channel(tracks[-1])
        heights = [0] * len(self.layers.rows)
        for box, (_, height) in enumerate(self.sizes):
            row = self.row(box)
            heights[row] = max(heights[row], height)
        for row, height in enumerate(heights):
            self.row_top.append(top)
            self.row_bottom.append(top + height)
            top += height + _channel(tracks.get(row, 0))
        for box, (width, height) in enumerate(self.sizes):
            row = self.row(box)
            y = self.row_top[row] + (heights[row] - height) // 2
            self.places.append(Place(self.left(box), y, width, height))


def _channel(tracks: int) -> float:
    return max(theme.ROW_GAP, TRACK_TOP + tracks * TRACK_STEP + LABEL_SPACE if tracks else 0)


def make_grid(picture: Picture) -> Grid:
    """Rows and columns for all boxes; a box and its partner in the other half share both."""
    vertex, count = _vertices(picture)
    arcs = [_arc(line.kind, vertex[line.source], vertex[line.target]) for line in picture.lines]
    layers = make_layers(count, [arc for arc in arcs if arc is not None])
    order_rows(layers)
    sizes = [geometry.box_size(box) for box in picture.boxes]
    widths = [float(BEND_WIDTH)] * len(layers.ranks)
    for box, (width, _) in enumerate(sizes):
        widths[vertex[box]] = max(widths[vertex[box]], width)
    gap = theme.COLUMN_GAP + (8 if picture.view == "both" else 0)
    x = [float(round(x)) for x in assign_columns(layers, widths, gap, LANE_GAP)]
    grid = Grid(picture, sizes, vertex, arcs, layers, x, {})
    _measure_halves(grid)
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


def _arc(kind: str, source: int, target: int) -> Arc | None:
    if kind == "saved":
        return None
    return (source, target) if kind == "value" else (target, source)


def _measure_halves(grid: Grid) -> None:
    """How far each half reaches to the left and to the right, lanes of its lines included."""
    for index, box in enumerate(grid.picture.boxes):
        x, half_width = grid.x[grid.vertex[index]], grid.sizes[index][0] / 2
        _widen(grid, box.half, x - half_width, x + half_width)
    for line, arc in zip(grid.picture.lines, grid.arcs, strict=True):
        if arc is not None:
            for bend in grid.layers.chains.get(arc, ()):
                x = grid.x[bend]
                _widen(grid, grid.picture.boxes[line.source].half, x - BEND_WIDTH, x + BEND_WIDTH)


def _widen(grid: Grid, half: Half, low: float, high: float) -> None:
    old_low, old_high = grid.extent.get(half, (low, high))
    grid.extent[half] = (min(low, old_low), max(high, old_high))
