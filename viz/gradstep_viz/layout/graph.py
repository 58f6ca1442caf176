"""The picture as its layout sees it: vertices, and arcs that run down.

A *vertex* is what is laid out: a box, or in the view of both halves a box and its partner in
the other half, which share a row and a column, so that one half is the mirror of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gradstep.graph.model import Half
from gradstep_viz.picture import geometry
from gradstep_viz.picture.model import Box, Picture
from gradstep_viz.picture.records import Records

Arc = tuple[int, int]


class LayoutGraph(NamedTuple):
    """A picture as vertices, ``vertex_count`` of them, and arcs.

    ``halves``, ``sizes`` and ``vertex`` are those of each box.  ``sources`` and ``targets`` are the
    boxes at the ends of each line, ``upper`` and ``lower`` are the same from top to bottom, and
    ``rises`` says that the line runs upwards; ``arcs`` is its arc, None for saved values.
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


def merge_partners(picture: Picture) -> LayoutGraph:
    """Make a vertex of each box and its partner in the other half, and an arc of each line."""
    boxes, lines = picture.boxes, picture.lines
    vertex, count = _vertices(boxes)
    kinds, sources, targets = map(lines.column, ("kind", "source", "target"))
    upper, lower = _from_top(kinds, sources, targets), _from_top(kinds, targets, sources)
    arcs = [
        None if kind == "saved" else (vertex[one], vertex[other])
        for kind, one, other in zip(kinds, upper, lower, strict=True)
    ]
    return LayoutGraph(
        picture, count, boxes.column("half"), geometry.box_sizes(boxes), vertex,
        sources, targets, upper, lower, [kind == "gradient" for kind in kinds], arcs,
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
    """Return the boxes at the upper ends of lines: values flow down, gradients up."""
    ends = zip(kinds, sources, targets, strict=True)
    return [target if kind == "gradient" else source for kind, source, target in ends]
