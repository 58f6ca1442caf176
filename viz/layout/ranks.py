"""Ranks: the row of every vertex, by the longest way that leads to it."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from autograd_core.dag.columns import Ints, grouped

Arc = tuple[int, int]


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
