"""Columns: the x of every vertex, after Brandes and Köpf (2001), with longest-path compaction.

Vertices are tied to a neighbour in the row above (or below) into straight *blocks*; blocks are
then pushed together.  Doing this from both sides, and taking the middle, gives balanced
pictures with straight spines and straight lanes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from viz.layout.layers import Layers

BALANCED = 6000
"""Up to this many vertices all four directions are computed, beyond it one."""


def assign_columns(layers: Layers, widths: Sequence[float], gap: float, lane: float) -> list[float]:
    """The centre of every vertex.

    ``widths`` are those of all vertices, bends included; boxes keep ``gap`` between them and
    bends keep ``lane`` from everything.
    """
    if not layers.ranks:
        return []
    crossed, spines = _crossed_lanes(layers), _spines(layers)
    variants = []
    directions = (False, True) if len(layers.ranks) <= BALANCED else (False,)
    for downwards in (True, False)[: len(directions)]:
        for rightwards in directions:
            blocks = _tie(layers, spines, crossed, downwards, rightwards)
            variants.append(_compact(layers, blocks, widths, gap, lane, rightwards))
    return _balance(variants, widths)


def _crossed_lanes(layers: Layers) -> set[tuple[int, int]]:
    """Lines that cross a lane (a line between two bends): the lane is the one kept straight."""
    position, first_bend = layers.position(), layers.box_count
    crossed: set[tuple[int, int]] = set()
    for row_index in range(1, len(layers.rows) - 1):
        row = layers.rows[row_index + 1]
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


def _spines(layers: Layers) -> tuple[list[list[int]], list[list[int]]]:
    """For each vertex, its neighbours above and below along the longest ways of the graph.

    Where a skip connection or a weight joins, the spine goes on straight and they bend.
    """
    first_bend = layers.box_count
    depth, height = [0] * len(layers.ranks), [0] * len(layers.ranks)
    for row in layers.rows:
        for vertex in row:
            near = layers.upper[vertex]
            if near:
                depth[vertex] = max([depth[v] for v in near]) + (vertex < first_bend)
    for row in reversed(layers.rows):
        for vertex in row:
            near = layers.lower[vertex]
            if near:
                height[vertex] = max([height[v] for v in near]) + (vertex < first_bend)
    above, below = [], []
    for vertex, near in enumerate(layers.upper):
        above.append(_spine_ends(vertex, near, layers.lower, depth, height))
    for vertex, near in enumerate(layers.lower):
        below.append(_spine_ends(vertex, near, layers.upper, height, depth))
    return above, below


def _spine_ends(
    vertex: int, near: list[int], back: list[list[int]], depth: list[int], height: list[int]
) -> list[int]:
    """Those of the neighbours on one side that are the longest way on, as ``vertex`` is theirs."""
    if len(near) == 1 and len(back[near[0]]) == 1:
        return near
    deepest = max([depth[v] for v in near], default=0)
    mine = height[vertex]
    return [v for v in near if depth[v] == deepest and max([height[w] for w in back[v]]) == mine]


def _tie(
    layers: Layers,
    spines: tuple[list[list[int]], list[list[int]]],
    crossed: set[tuple[int, int]],
    downwards: bool,
    rightwards: bool,
) -> list[int]:
    """Tie each vertex to the middle one of its neighbours; returns the block of each vertex.

    Neighbours along a spine go first; one that is on a spine itself is left to that.
    """
    sign = -1 if rightwards else 1
    position = [sign * index for index in layers.position()]
    block = list(range(len(layers.ranks)))
    neighbours = layers.upper if downwards else layers.lower
    ours, theirs = spines if downwards else spines[::-1]
    for row in layers.rows if downwards else reversed(layers.rows):
        reach = -len(layers.ranks) - 1
        for vertex in reversed(row) if rightwards else row:
            near = ours[vertex] or [v for v in neighbours[vertex] if not theirs[v]]
            if not near:
                continue
            if len(near) > 1:
                near = sorted(near, key=position.__getitem__)
            for index in dict.fromkeys(((len(near) - 1) // 2, len(near) // 2)):
                other = near[index]
                pair = (other, vertex) if downwards else (vertex, other)
                if position[other] > reach and pair not in crossed:
                    block[vertex] = block[other]
                    reach = position[other]
                    break
    return block


def _compact(
    layers: Layers,
    block: list[int],
    widths: Sequence[float],
    gap: float,
    lane: float,
    rightwards: bool,
) -> list[float]:
    """Push the blocks to one side as far as their order and the gaps allow."""
    first_bend = layers.box_count
    after: dict[int, list[tuple[int, float]]] = {}
    waiting: dict[int, int] = dict.fromkeys(block, 0)
    for row in layers.rows:
        previous = -1
        for vertex in reversed(row) if rightwards else row:
            if previous >= 0:
                space = gap if vertex < first_bend and previous < first_bend else lane
                distance = (widths[vertex] + widths[previous]) / 2 + space
                after.setdefault(block[previous], []).append((block[vertex], distance))
                waiting[block[vertex]] += 1
            previous = vertex
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
