"""Layers: every box gets a row, and every line a way through the rows that it passes.

A line that passes a row on its way gets a *bend* there, a vertex of its own, so that it has
a lane between the boxes.  All of it is iterative and takes time linear in what is drawn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from gradstep.graph.columns import Ints, grouped
from gradstep_viz import theme
from gradstep_viz.layout.graph import Arc, LayoutGraph
from gradstep_viz.layout.wrapping import WIDE, wrapped

MOST_LANES = 12
_NO_BENDS = range(0)


@dataclass(slots=True)
class Layers:
    """Vertices in rows; those from ``box_count`` on are bends.

    ``upper`` and ``lower`` are the neighbours of each vertex in the rows beside it; ``depth``
    and ``height`` are the longest ways to and from it, in boxes.  ``chains`` gives the bends
    of each arc, from top to bottom; an arc that is not in it runs in a lane beside the
    picture, because it is too long or goes upwards.  ``steps`` are all pairs of neighbours,
    the upper ones and the lower ones.
    """

    box_count: int
    ranks: list[int]
    rows: list[list[int]]
    upper: list[tuple[int, ...]]
    lower: list[tuple[int, ...]]
    depth: list[int]
    height: list[int]
    chains: dict[Arc, range]
    steps: tuple[Ints, Ints]

    def in_place(self) -> Layers:
        """Return the same once every vertex has its place, without what it took to find that: a
        third of the memory of a layout."""
        return replace(self, upper=[], lower=[], depth=[], height=[], chains={})

    def position(self) -> list[int]:
        """Return the place of every vertex within its row."""
        lengths = np.array([len(row) for row in self.rows], np.int64)
        order = np.fromiter(chain.from_iterable(self.rows), np.int64, len(self.ranks))
        position = np.zeros(len(self.ranks), np.int64)
        position[order] = _within(lengths)
        positions: list[int] = position.tolist()
        return positions


def rank(graph: LayoutGraph, wide: float = WIDE) -> Layers:
    """Give every vertex a row, and every line a bend in each row that it passes; within a row, in
    the order in which ops name their operands.  Rows that are wider than ``wide`` are wrapped."""
    operands = np.array(graph.picture.lines.column("operand"), np.int64)
    arcs = (graph.arcs[line] for line in np.argsort(operands, kind="stable").tolist())
    widths = np.zeros(graph.vertex_count, np.int64)
    sizes = np.array(graph.sizes, np.int64).reshape(-1, 2)
    np.maximum.at(widths, np.array(graph.vertex, np.int64), sizes[:, 0] + theme.COLUMN_GAP)
    return make_layers(graph.vertex_count, [arc for arc in arcs if arc is not None], widths, wide)


def make_layers(
    count: int, arcs: Ints | Sequence[Arc], widths: Ints | None = None, wide: float = WIDE
) -> Layers:
    """Make the rows and bends of so many vertices, joined by ``arcs``; rows that are too wide for
    the ``widths`` of the vertices, where these are given, are wrapped."""
    ends = np.fromiter(chain.from_iterable(arcs), np.int64, 2 * len(arcs))
    pairs = _distinct(ends.reshape(-1, 2), count)
    ranking = longest_paths(count, pairs)
    ranks, depth, height = (np.array(column, np.int64) for column in ranking)
    if widths is not None:
        ranks = wrapped(ranks, pairs, widths, wide)
    kept = _affordable(pairs, ranks)
    upper, lower = kept[:, 0], kept[:, 1]
    spans = ranks[lower] - ranks[upper]
    first_bends = count + np.cumsum(spans - 1) - (spans - 1)
    # every arc takes as many steps as rows; each step but its first leaves a bend
    arc, step = np.repeat(np.arange(len(kept)), spans), _within(spans)
    later = step > 0
    ranks = np.concatenate([ranks, (ranks[upper[arc]] + step)[later]])
    heads = np.where(later, first_bends[arc] + step - 1, upper[arc])
    tails = np.where(step < spans[arc] - 1, first_bends[arc] + step, lower[arc])
    vertices = np.array([*_operands_first(count, kept), *range(count, len(ranks))], np.int64)
    rows = grouped(ranks[vertices], vertices, int(ranks.max(initial=-1)) + 1)
    return Layers(
        box_count=count,
        ranks=ranks.tolist(),
        rows=[list(row) for row in rows],
        upper=grouped(tails, heads, len(ranks)),
        lower=grouped(heads, tails, len(ranks)),
        depth=[*ranking.depth, *depth[upper[arc]][later].tolist()],
        height=[*ranking.height, *height[lower[arc]][later].tolist()],
        chains={
            (one, other): range(first, first + span - 1) if span > 1 else _NO_BENDS
            for (one, other), first, span in zip(
                kept.tolist(), first_bends.tolist(), spans.tolist(), strict=True
            )
        },
        steps=(heads, tails),
    )


def _within(lengths: Ints) -> Ints:
    """Count 0, 1, 2 … within each of several stretches of these lengths.

    >>> _within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    places: Ints = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return places


def _distinct(pairs: Ints, count: int) -> Ints:
    """Drop repeated pairs; the others keep their order."""
    _, firsts = np.unique(pairs[:, 0] * count + pairs[:, 1], return_index=True)
    distinct: Ints = pairs[np.sort(firsts)]
    return distinct


def _operands_first(count: int, arcs: Ints) -> list[int]:
    """Order all vertices: each after its operands, and these from left to right."""
    above = grouped(arcs[:, 1], arcs[:, 0], count)
    is_inner = np.bincount(arcs[:, 0], minlength=count)
    order: list[int] = []
    seen = bytearray(count)
    stack = np.flatnonzero(is_inner == 0)[::-1].tolist()
    while stack:
        vertex = stack.pop()
        if vertex < 0:
            order.append(~vertex)
        elif not seen[vertex]:
            seen[vertex] = 1
            stack.append(~vertex)
            stack += [upper for upper in reversed(above[vertex]) if not seen[upper]]
    return order


def _affordable(arcs: Ints, ranks: Ints) -> Ints:
    """Keep the arcs that go down and whose bends stay in proportion to the picture.

    Of many long arcs that meet at one vertex the shortest get lanes of their own.
    """
    budget = 3 * len(ranks) + 1000
    company: dict[int, int] = {}
    spans = ranks[arcs[:, 1]] - ranks[arcs[:, 0]]
    kept = spans > 0
    long = np.flatnonzero(spans > 1)
    for arc in long[np.lexsort((arcs[long, 1], arcs[long, 0], spans[long]))].tolist():
        upper, lower = arcs[arc].tolist()
        budget -= int(spans[arc]) - 1
        company[upper] = company.get(upper, 0) + 1
        company[lower] = company.get(lower, 0) + 1
        if budget < 0 or max(company[upper], company[lower]) > MOST_LANES:
            kept[arc] = False
    return arcs[kept]


class Ranking(NamedTuple):
    """The row of each vertex, and the longest ways to and from it."""

    ranks: list[int]
    depth: list[int]
    height: list[int]


def longest_paths(count: int, arcs: Ints) -> Ranking:
    """Rank each vertex by the longest path that leads to it, from the top.

    Arcs that close a cycle are ignored.  Side branches that would hang far above the vertex
    they lead to are let down to it.

    >>> longest_paths(4, np.array([(0, 1), (1, 2), (3, 2)])).ranks
    [0, 1, 2, 0]
    """
    pairs = arcs[arcs[:, 0] != arcs[:, 1]]
    below = grouped(pairs[:, 0], pairs[:, 1], count)
    fan_in = np.bincount(pairs[:, 1], minlength=count).tolist()
    missing = fan_in.copy()
    depth = [0] * count
    order: list[int] = []
    ready = deque(vertex for vertex in range(count) if not missing[vertex])
    done = bytearray(count)
    next_stuck = 0
    while len(order) < count:
        if not ready:
            while done[next_stuck]:
                next_stuck += 1
            missing[next_stuck] = 0
            ready.append(next_stuck)
        vertex = ready.popleft()
        done[vertex] = 1
        order.append(vertex)
        further = depth[vertex] + 1
        for lower in below[vertex]:
            if done[lower] or not missing[lower]:
                continue
            if depth[lower] < further:
                depth[lower] = further
            missing[lower] -= 1
            if not missing[lower]:
                ready.append(lower)
    height = [0] * count
    for vertex in reversed(order):
        for lower in below[vertex]:
            if depth[lower] > depth[vertex] and height[vertex] <= height[lower]:
                height[vertex] = height[lower] + 1
    return Ranking(_let_down(order, below, fan_in, depth), depth, height)


def _let_down(
    order: list[int], below: list[tuple[int, ...]], fan_in: list[int], depth: list[int]
) -> list[int]:
    """Lower branches that serve one vertex only, when they would hang two rows too high."""
    ranks = depth.copy()
    free = [fan == 0 for fan in fan_in]
    waiting = fan_in.copy()
    for vertex in order:
        if free[vertex] and len(below[vertex]) == 1:
            lower = below[vertex][0]
            waiting[lower] -= 1
            if not waiting[lower]:
                free[lower] = True
    for vertex in reversed(order):
        if free[vertex] and below[vertex]:
            lowest = min([ranks[lower] for lower in below[vertex]]) - 1
            if lowest - ranks[vertex] >= 2:
                ranks[vertex] = lowest
    return ranks
