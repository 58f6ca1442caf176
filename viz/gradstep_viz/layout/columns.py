"""Columns: the x of every vertex, after Brandes and Köpf (2001), with longest-path compaction.

Vertices are tied to a neighbour in the row above (or below) into straight *blocks*; blocks are
then pushed together.  Doing this from both sides, and taking the middle, gives balanced
pictures with straight spines and straight lanes.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.columns import Ints
from gradstep_viz.layout.layers import Layers

Neighbours = list[tuple[int, ...]]

BALANCED = 6000
"""Up to this many vertices all four directions are computed, beyond it one."""


STAIR: Final = 2 * 1920
STAIR_SHAPE: Final = 2
"""Columns that are wider than two screens, and than so many of their widest row, are a stair."""

Floats = NDArray[np.float64]


def packed(numbers: Floats) -> array[float]:
    """Return numbers as a column whose entries are Python's own, in a quarter of the memory that
    a list of them takes."""
    column = array("d")
    column.frombytes(np.ascontiguousarray(numbers, np.float64).tobytes())
    return column


class Space(NamedTuple):
    """How far apart things stand: ``widths`` are those of all vertices, bends included; boxes keep
    ``gap`` between them and bends keep ``lane`` from everything.  ``rooms`` are what the labels of
    each vertex take to the right of its centre: bends stay out of that of a box, and boxes out of
    that of a bend."""

    widths: Floats
    rooms: Floats
    gap: float
    lane: float


def assign_columns(layers: Layers, space: Space) -> list[float]:
    """Choose the centre of every vertex."""
    if not layers.ranks:
        return []
    columns = _assign(layers, space)
    widest = max(sum(space.widths[row]) + space.gap * len(row) for row in layers.rows)
    if max(columns) - min(columns) > max(STAIR, STAIR_SHAPE * widest):
        # branches that are straight, each one row below the other, stand in a stair
        columns = min(columns, _assign(layers, space, is_stair=True), key=lambda x: max(x) - min(x))
    return columns


def _assign(layers: Layers, space: Space, *, is_stair: bool = False) -> list[float]:
    crossed, spines = _crossed_lanes(layers), _spines(layers)
    alone = _beside_the_way(layers) if is_stair else frozenset[int]()
    variants = []
    directions = (False, True) if len(layers.ranks) <= BALANCED else (False,)
    for downwards in (True, False)[: len(directions)]:
        for rightwards in directions:
            blocks = _tie(layers, spines, crossed, alone, downwards, rightwards)
            variants.append(_compact(layers, blocks, space, rightwards))
    return _balance(variants, space.widths.tolist())


def _beside_the_way(layers: Layers) -> frozenset[int]:
    """Find the boxes that are on none of the longest ways through the graph."""
    ways = [depth + height for depth, height in zip(layers.depth, layers.height, strict=True)]
    longest = max(ways)
    return frozenset(vertex for vertex in range(layers.box_count) if ways[vertex] < longest)


def _crossed_lanes(layers: Layers) -> set[tuple[int, int]]:
    """Find lines that cross a lane (a line between two bends): the lane is the one kept
    straight."""
    position, first_bend = layers.position(), layers.box_count
    crossed: set[tuple[int, int]] = set()
    for row_index in range(1, len(layers.rows) - 1):
        row = layers.rows[row_index + 1]
        if max(row) < first_bend:
            continue
        left, start = -1, 0
        for index, vertex in enumerate(row):
            inner = vertex >= first_bend and layers.upper[vertex][0] >= first_bend
            if not inner and index + 1 < len(row):
                continue
            right = position[layers.upper[vertex][0]] if inner else len(layers.rows[row_index])
            for other in row[start : index + 1]:
                for upper in layers.upper[other]:
                    lane = other >= first_bend and upper >= first_bend
                    if not lane and not left <= position[upper] <= right:
                        crossed.add((upper, other))
            left, start = right, index + 1
    return crossed


def _spines(layers: Layers) -> tuple[Neighbours, Neighbours]:
    """Find for each vertex its neighbours above and below along the longest ways of the graph.

    Where a skip connection or a weight joins, the spine goes on straight and they bend.
    """
    upper, lower = layers.steps
    depth, height = np.array(layers.depth, np.int64), np.array(layers.height, np.int64)
    return (
        _spine_ends(layers.upper, lower, upper, depth, height),
        _spine_ends(layers.lower, upper, lower, height, depth),
    )


def _spine_ends(
    neighbours: Neighbours, vertices: Ints, near: Ints, onward: Ints, homeward: Ints
) -> Neighbours:
    """Keep of the ``neighbours`` of each vertex those that are the longest way on, when that way is
    also theirs; ``vertices`` and ``near`` are the same, pair by pair."""
    deepest, furthest = np.zeros_like(onward), np.zeros_like(homeward)
    np.maximum.at(deepest, vertices, onward[near])
    np.maximum.at(furthest, near, homeward[vertices])
    ends = (onward[near] == deepest[vertices]) & (homeward[vertices] == furthest[near])
    others = set(zip(vertices[~ends].tolist(), near[~ends].tolist(), strict=True))
    kept = neighbours.copy()
    for vertex, _ in others:
        kept[vertex] = tuple([one for one in kept[vertex] if (vertex, one) not in others])
    return kept


def _tie(
    layers: Layers,
    spines: tuple[Neighbours, Neighbours],
    crossed: set[tuple[int, int]],
    alone: Collection[int],
    downwards: bool,
    rightwards: bool,
) -> list[int]:
    """Tie each vertex to the middle one of its neighbours; returns the block of each vertex.

    Neighbours along a spine go first; one that is on a spine itself is left to that.  Those that
    stay ``alone`` are tied to none.
    """
    sign = -1 if rightwards else 1
    position = [sign * index for index in layers.position()]
    block = list(range(len(layers.ranks)))
    neighbours = layers.upper if downwards else layers.lower
    ours, theirs = spines if downwards else spines[::-1]
    for row in layers.rows if downwards else reversed(layers.rows):
        reach = -len(layers.ranks) - 1
        for vertex in reversed(row) if rightwards else row:
            if vertex in alone:
                continue
            near = ours[vertex] or [v for v in neighbours[vertex] if not theirs[v]]
            if len(near) > 1:
                near = sorted(near, key=position.__getitem__)
                near = near[(len(near) - 1) // 2 : len(near) // 2 + 1]
            for other in near:
                pair = (other, vertex) if downwards else (vertex, other)
                if position[other] > reach and pair not in crossed:
                    block[vertex] = block[other]
                    reach = position[other]
                    break
    return block


def _compact(layers: Layers, block: list[int], space: Space, rightwards: bool) -> list[float]:
    """Push the blocks to one side as far as their order and the gaps allow."""
    after, waiting = _neighbouring_blocks(layers, block, space, rightwards)
    x = dict.fromkeys(waiting, 0.0)
    order = []
    ready = deque(name for name, count in waiting.items() if not count)
    while ready:
        name = ready.popleft()
        order.append(name)
        here = x[name]
        for other, distance in after.get(name, ()):
            if here + distance > x[other]:
                x[other] = here + distance
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    for name in reversed(order):
        if name in after:
            x[name] = max(x[name], min(x[other] - distance for other, distance in after[name]))
    sign = -1 if rightwards else 1
    return [sign * x[name] for name in block]


def _neighbouring_blocks(
    layers: Layers, block: list[int], space: Space, rightwards: bool
) -> tuple[dict[int, list[tuple[int, float]]], dict[int, int]]:
    """Find for each block those that stand after it, and how far; and how many stand before
    each."""
    lengths = np.array([len(row) for row in layers.rows])
    order = np.array([vertex for row in layers.rows for vertex in row])
    is_last = np.zeros(len(order), bool)
    is_last[np.cumsum(lengths) - 1] = True
    left, right = order[:-1][~is_last[:-1]], order[1:][~is_last[:-1]]
    from_box, to_box = left < layers.box_count, right < layers.box_count
    distance = (space.widths[left] + space.widths[right]) / 2
    distance += np.where(from_box & to_box, space.gap, space.lane)
    distance = np.where(from_box == to_box, distance, np.maximum(distance, space.rooms[left]))
    blocks = np.array(block)
    before, behind = (blocks[right], blocks[left]) if rightwards else (blocks[left], blocks[right])
    sequence = np.lexsort((-distance, behind, before))
    before, behind, distance = before[sequence], behind[sequence], distance[sequence]
    widest = np.ones(len(before), bool)
    widest[1:] = (before[1:] != before[:-1]) | (behind[1:] != behind[:-1])
    before, behind = before[widest], behind[widest]
    after: dict[int, list[tuple[int, float]]] = {}
    waiting = dict.fromkeys(block, 0)
    for one, other, apart in zip(
        before.tolist(), behind.tolist(), distance[widest].tolist(), strict=True
    ):
        after.setdefault(one, []).append((other, apart))
        waiting[other] += 1
    return after, waiting


def _balance(variants: list[list[float]], widths: Sequence[float]) -> list[float]:
    """Lay the variants over the narrowest one and take the middle of each vertex's places."""
    if len(variants) == 1:
        return variants[0]
    spans = []
    for variant in variants:
        left = min(x - width / 2 for x, width in zip(variant, widths, strict=True))
        right = max(x + width / 2 for x, width in zip(variant, widths, strict=True))
        spans.append((right - left, left, right))
    _, left, right = min(spans)
    shifted = []
    for index, variant in enumerate(variants):
        shift = right - spans[index][2] if index % 2 else left - spans[index][1]
        shifted.append([x + shift for x in variant])
    middle = []
    for places in zip(*shifted, strict=True):
        _, a, b, _ = sorted(places)
        middle.append((a + b) / 2)
    return middle
