"""The grid: which box stands in which row and column, before heights are known."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.graph.model import Half
from gradstep_viz import theme
from gradstep_viz.layout.columns import Floats, Space, assign_columns, packed
from gradstep_viz.layout.graph import Arc, LayoutGraph
from gradstep_viz.layout.layers import Layers
from gradstep_viz.picture import geometry
from gradstep_viz.picture.model import Picture

BEND_WIDTH = 10
LANE_GAP = 20

BESIDE = 6
"""How far labels keep from lines."""

MANY = 4000
"""A picture with more lines than this is never seen whole."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The vertices of a :class:`LayoutGraph`, whose fields come first, in rows and columns.

    ``rows`` are those of the boxes, and ``row_heights`` what the tallest box of each row needs.
    ``bends`` are those of the arc of each line, None where it has no lane between the boxes.
    ``x`` are the centres of all vertices, common to both halves.
    """

    picture: Picture
    vertex_count: int
    halves: Sequence[Half]
    sizes: list[tuple[int, int]]
    vertex: list[int]
    sources: Sequence[int]
    targets: Sequence[int]
    upper: list[int]
    lower: list[int]
    rises: list[bool]
    arcs: list[Arc | None]
    layers: Layers
    rows: list[int]
    row_heights: list[int]
    bends: list[range | None]
    x: array[float]


def position_columns(graph: LayoutGraph, layers: Layers, relief: Mapping[int, int]) -> Grid:
    """Give every vertex an x, in the order that it has in its row; ``relief`` is how much further
    lanes keep from some."""
    gap = theme.COLUMN_GAP + (8 if graph.picture.view == "both" else 0)
    rooms = _rooms(layers, graph.arcs, graph.picture.lines.column("label"))
    for vertex, room in relief.items():
        rooms[vertex] += room
    widths = _widths(layers, graph.vertex, graph.sizes)
    x = assign_columns(layers, Space(widths, rooms, gap, LANE_GAP))
    rows = [layers.ranks[one] for one in graph.vertex]
    return Grid(
        *graph,
        layers=layers.in_place(),
        rows=rows,
        row_heights=_row_heights(len(layers.rows), rows, graph.sizes),
        bends=[None if arc is None else layers.chains.get(arc) for arc in graph.arcs],
        x=packed(np.round(x) + 0.0),
    )


def _widths(layers: Layers, vertex: list[int], sizes: Sequence[tuple[int, int]]) -> Floats:
    """Return the width of every vertex: that of its widest box."""
    widths = np.full(len(layers.ranks), float(BEND_WIDTH))
    np.maximum.at(widths, np.array(vertex, np.int64), [width for width, _ in sizes])
    return widths


def _rooms(layers: Layers, arcs: Sequence[Arc | None], labels: Sequence[str]) -> Floats:
    """Measure the room that labels beside lines to the next row take to the right of the boxes at
    both ends; none in a picture that nobody sees whole."""
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
    row_heights: list[int] = heights.tolist()
    return row_heights
