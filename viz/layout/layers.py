"""Layers: every box gets a row, and a column order that keeps lines from crossing.

A *vertex* is what is laid out: a box, or in the view of both halves a box and its partner in
the other half, which share a row and a column, so that one half is the mirror of the other.
A line that passes a row on its way gets a *bend* there, a vertex of its own, so that it has
a lane between the boxes.  All of it is iterative and takes time linear in what is drawn.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

Arc = tuple[int, int]

MOST_LANES = 12

SMALL = 1500
"""Up to this many vertices crossings are counted, and the best of many sweeps is kept."""


@dataclass(slots=True)
class Layers:
    """Vertices in rows; those from ``box_count`` on are bends.

    ``chains`` gives the bends of each arc, from top to bottom; an arc that is not in it runs
    in a lane beside the picture, because it is too long or goes upwards.
    """

    box_count: int
    ranks: list[int]
    rows: list[list[int]]
    upper: list[list[int]]
    lower: list[list[int]]
    chains: dict[Arc, list[int]]

    def position(self) -> list[int]:
        """The place of every vertex within its row."""
        position = [0] * len(self.ranks)
        for row in self.rows:
            for index, vertex in enumerate(row):
                position[vertex] = index
        return position


def rank(count: int, arcs: Sequence[Arc]) -> list[int]:
    """The row of each vertex: the longest path that leads to it, from the top.

    Arcs that close a cycle are ignored.  Side branches that would hang far above the vertex
    they lead to are let down to it.

    >>> rank(4, [(0, 1), (1, 2), (3, 2)])
    [0, 1, 2, 0]
    """
    below: list[list[int]] = [[] for _ in range(count)]
    missing = [0] * count
    for upper, lower in arcs:
        if upper != lower:
            below[upper].append(lower)
            missing[lower] += 1
    fan_in = missing.copy()
    ranks = [0] * count
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
        for lower in below[vertex]:
            if done[lower] or not missing[lower]:
                continue
            ranks[lower] = max(ranks[lower], ranks[vertex] + 1)
            missing[lower] -= 1
            if not missing[lower]:
                ready.append(lower)
    _let_down(order, below, fan_in, ranks)
    return ranks


def _let_down(
    order: list[int], below: list[list[int]], fan_in: list[int], ranks: list[int]
) -> None:
    """Lower branches that serve one vertex only, when they would hang two rows too high."""
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
            lowest = min(ranks[lower] for lower in below[vertex]) - 1
            if lowest - ranks[vertex] >= 2:
                ranks[vertex] = lowest


def make_layers(count: int, arcs: Sequence[Arc]) -> Layers:
    """Rows with bends, in the order in which the arcs name the operands; see :func:`order_rows`."""
    arcs = list(dict.fromkeys(arcs))
    ranks = rank(count, arcs)
    rows: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
    kept = _affordable(arcs, ranks)
    arcs = [arc for arc in arcs if arc in kept]
    for vertex in _operands_first(count, arcs):
        rows[ranks[vertex]].append(vertex)
    layers = Layers(count, ranks, rows, [[] for _ in ranks], [[] for _ in ranks], {})
    for arc in arcs:
        _thread(layers, arc)
    return layers


def _operands_first(count: int, arcs: Sequence[Arc]) -> list[int]:
    """All vertices, each after its operands, and these from left to right."""
    above: list[list[int]] = [[] for _ in range(count)]
    is_sink = bytearray(b"\1") * count
    for upper, lower in arcs:
        above[lower].append(upper)
        is_sink[upper] = 0
    order: list[int] = []
    seen = bytearray(count)
    stack = [vertex for vertex in range(count - 1, -1, -1) if is_sink[vertex]]
    while stack:
        vertex = stack.pop()
        if vertex < 0:
            order.append(~vertex)
        elif not seen[vertex]:
            seen[vertex] = 1
            stack.append(~vertex)
            stack += [upper for upper in reversed(above[vertex]) if not seen[upper]]
    return order


def _affordable(arcs: Sequence[Arc], ranks: list[int]) -> set[Arc]:
    """The arcs that go down and whose bends stay in proportion to the picture.

    Of many long arcs that meet at one vertex the shortest get lanes of their own.
    """
    spans = sorted(
        (ranks[lower] - ranks[upper], upper, lower)
        for upper, lower in set(arcs)
        if ranks[lower] > ranks[upper]
    )
    budget = 3 * len(ranks) + 1000
    company = [0] * len(ranks)
    kept: set[Arc] = set()
    for span, upper, lower in spans:
        if span > 1:
            budget -= span - 1
            company[upper] += 1
            company[lower] += 1
            if budget < 0 or max(company[upper], company[lower]) > MOST_LANES:
                continue
        kept.add((upper, lower))
    return kept


def _thread(layers: Layers, arc: Arc) -> None:
    """Lead an arc through all rows on its way."""
    upper, target = arc
    bends: list[int] = []
    for row in range(layers.ranks[upper] + 1, layers.ranks[target]):
        bend = len(layers.ranks)
        layers.ranks.append(row)
        layers.rows[row].append(bend)
        layers.upper.append([upper])
        layers.lower.append([])
        layers.lower[upper].append(bend)
        bends.append(bend)
        upper = bend
    layers.lower[upper].append(target)
    layers.upper[target].append(upper)
    layers.chains[arc] = bends


def order_rows(layers: Layers) -> None:
    """Sort each row so that few lines cross: sweeps down and up by the mean of the neighbours."""
    small = len(layers.ranks) <= SMALL
    position = [float(index) for index in layers.position()]
    best, fewest = [row.copy() for row in layers.rows], _crossings(layers) if small else 0
    for sweep in range(12 if small else 2):
        if small and not fewest:
            break
        turn_ties = sweep % 4 > 1
        if sweep % 2 == 0:
            _sweep(layers.rows[1:], layers.upper, position, turn_ties)
        else:
            _sweep(layers.rows[-2::-1], layers.lower, position, turn_ties)
        if small:
            _exchange(layers)
            crossings = _crossings(layers)
            if crossings < fewest:
                best, fewest = [row.copy() for row in layers.rows], crossings
            position = [float(index) for index in layers.position()]
    if small:
        layers.rows = best


def _sweep(
    rows: Sequence[list[int]],
    neighbours: list[list[int]],
    position: list[float],
    turn_ties: bool,
) -> None:
    """Sort rows by the mean position of the neighbours; equals stay, or change, their order."""
    for row in rows:
        if len(row) < 2:
            continue
        keys = {}
        for index, vertex in enumerate(row):
            near = neighbours[vertex]
            keys[vertex] = (
                sum(position[other] for other in near) / len(near) if near else float(index)
            )
        if turn_ties:
            row.reverse()
        row.sort(key=keys.__getitem__)
        for index, vertex in enumerate(row):
            position[vertex] = float(index)


def _exchange(layers: Layers) -> None:
    """Swap neighbours in a row where that alone removes crossings."""
    position = layers.position()
    for row in layers.rows:
        for index in range(len(row) - 1):
            left, right = row[index], row[index + 1]
            now = swapped = 0
            for side in (layers.upper, layers.lower):
                for a in side[left]:
                    for b in side[right]:
                        now += position[a] > position[b]
                        swapped += position[b] > position[a]
            if swapped < now:
                row[index], row[index + 1] = right, left
                position[left], position[right] = index + 1, index


def _crossings(layers: Layers) -> int:
    """How many pairs of lines cross, over all neighbouring rows."""
    position = layers.position()
    total = 0
    for row in layers.rows:
        seen: list[int] = []
        for vertex in row:
            ends = sorted(position[lower] for lower in layers.lower[vertex])
            for end in ends:
                total += len(seen) - bisect_left(seen, end + 1)
            for end in ends:
                insort(seen, end)
    return total
