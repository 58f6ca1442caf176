"""Layers: every box gets a row, and every line a way through the rows that it passes.

A *vertex* is what is laid out: a box, or in the view of both halves a box and its partner in
the other half, which share a row and a column, so that one half is the mirror of the other.
A line that passes a row on its way gets a *bend* there, a vertex of its own, so that it has
a lane between the boxes.  All of it is iterative and takes time linear in what is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from viz.layout.ranks import Arc, group, rank

MOST_LANES = 12


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
    steps: tuple[NDArray[np.int64], NDArray[np.int64]]

    def position(self) -> list[int]:
        """The place of every vertex within its row."""
        position = [0] * len(self.ranks)
        for row in self.rows:
            if len(row) > 1:
                for index, vertex in enumerate(row):
                    position[vertex] = index
        return position


def make_layers(count: int, arcs: Sequence[Arc]) -> Layers:
    """Rows with bends, in the order in which the arcs name the operands; see :func:`order_rows`."""
    arcs = list(dict.fromkeys(arcs))
    ranks, depth, height = rank(count, arcs)
    kept = _affordable(arcs, ranks)
    order = _operands_first(count, kept)
    chains: dict[Arc, range] = {}
    heads: list[int] = []
    tails: list[int] = []
    for arc in kept:
        upper, target = arc
        first = len(ranks)
        bends = chains[arc] = range(first, first + ranks[target] - ranks[upper] - 1)
        if bends:
            ranks += range(ranks[upper] + 1, ranks[target])
            depth += [depth[upper]] * len(bends)
            height += [height[target]] * len(bends)
            heads += (upper, *bends)
            tails += (*bends, target)
        else:
            heads.append(upper)
            tails.append(target)
    vertices = np.array([*order, *range(count, len(ranks))], np.int64)
    ends = np.array(heads, np.int64), np.array(tails, np.int64)
    rows = group(np.array(ranks, np.int64)[vertices], vertices, max(ranks, default=-1) + 1)
    return Layers(
        box_count=count,
        ranks=ranks,
        rows=[list(row) for row in rows],
        upper=group(ends[1], ends[0], len(ranks)),
        lower=group(*ends, len(ranks)),
        depth=depth,
        height=height,
        chains=chains,
        steps=ends,
    )


def _operands_first(count: int, arcs: Sequence[Arc]) -> list[int]:
    """All vertices, each after its operands, and these from left to right."""
    pairs = np.array(arcs, np.int64).reshape(-1, 2)
    above = group(pairs[:, 1], pairs[:, 0], count)
    is_inner = np.bincount(pairs[:, 0], minlength=count)
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


def _affordable(arcs: Sequence[Arc], ranks: list[int]) -> list[Arc]:
    """The arcs that go down and whose bends stay in proportion to the picture.

    Of many long arcs that meet at one vertex the shortest get lanes of their own.
    """
    budget = 3 * len(ranks) + 1000
    company: dict[int, int] = {}
    dropped: set[Arc] = set()
    long = sorted(
        (ranks[lower] - ranks[upper], upper, lower)
        for upper, lower in arcs
        if ranks[lower] > ranks[upper] + 1
    )
    for span, upper, lower in long:
        budget -= span - 1
        company[upper] = company.get(upper, 0) + 1
        company[lower] = company.get(lower, 0) + 1
        if budget < 0 or max(company[upper], company[lower]) > MOST_LANES:
            dropped.add((upper, lower))
    return [arc for arc in arcs if ranks[arc[1]] > ranks[arc[0]] and arc not in dropped]
