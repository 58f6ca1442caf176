"""The order of the vertices within each row, so that few lines cross."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import replace
from operator import le

from gradstep_viz.layout.layers import Layers

SMALL = 1500
"""Up to this many vertices crossings are counted, and the best of many sweeps is kept."""


def order(layers: Layers) -> Layers:
    """Sort each row so that few lines cross: sweeps down and up by the mean of the neighbours."""
    layers = replace(layers, rows=[row.copy() for row in layers.rows])
    small = len(layers.ranks) <= SMALL
    position = [float(index) for index in layers.position()]
    best, fewest = layers.rows, 0
    if small:
        best, fewest = [row.copy() for row in layers.rows], _crossings(layers)
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
    return replace(layers, rows=best) if small else layers


def _sweep(
    rows: Sequence[list[int]],
    neighbours: list[tuple[int, ...]],
    position: list[float],
    turn_ties: bool,
) -> None:
    """Sort rows by the mean position of the neighbours; equals stay, or change, their order."""
    for row in rows:
        if len(row) < 2:
            continue
        keys = []
        for index, vertex in enumerate(row):
            near = neighbours[vertex]
            if len(near) == 1:
                keys.append(position[near[0]])
            elif near:
                keys.append(sum([position[other] for other in near]) / len(near))
            else:
                keys.append(float(index))
        if not turn_ties and all(map(le, keys, keys[1:])):
            continue  # they are in order already
        keyed = dict(zip(row, keys, strict=True))
        if turn_ties:
            row.reverse()
        row.sort(key=keyed.__getitem__)
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
    """Count the pairs of lines that cross, over all neighbouring rows."""
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
