"""Wrapping: branches that are too many to stand side by side stand in several bands, one below the
other, as the words of a paragraph do."""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np

from gradstep.graph.columns import Ints

WIDE = 7680
"""Rows of boxes that are wider than this, four screens, are wrapped, unless the picture is for
something narrower."""

SHAPE = 1.6
"""How wide the bands together shall be, for their height: as a screen."""

ROW = 110
"""About the height of a row with the space below it."""


def wrapped(ranks: Ints, arcs: Ints, widths: Ints, wide: float = WIDE) -> Ints:
    """Return the rows of all vertices, where those of neighbouring rows that are wider than
    ``wide`` stand in bands; what ``arcs`` join within such rows stays together.

    >>> two_branches = np.array([(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5)])
    >>> ranks = np.array([0, 1, 1, 2, 2, 3])
    >>> wrapped(ranks, two_branches, np.full(6, 5000)).tolist()
    [0, 1, 3, 2, 4, 5]
    """
    is_wide = np.bincount(ranks, widths) > wide
    bands = ranks.copy()
    borders = np.flatnonzero(np.diff(is_wide, prepend=False, append=False))
    for first, stop in borders.reshape(-1, 2).tolist():
        inside = np.flatnonzero((ranks >= first) & (ranks < stop))
        band = _bands(inside, ranks, arcs, widths, stop - first, wide)
        bands[inside] += band * (stop - first)
        bands[ranks >= stop] += int(band.max()) * (stop - first)
    _, rows = np.unique(bands, return_inverse=True)  # without rows that no band has
    return rows.astype(np.int64)


def _bands(inside: Ints, ranks: Ints, arcs: Ints, widths: Ints, height: int, wide: float) -> Ints:
    """Return the band of each of the vertices ``inside``: the bands together have the shape of a
    screen, or are as wide as they may be."""
    part = _parts(inside, arcs, len(ranks))
    # a part is as wide as the widest of its rows
    rows = part * len(ranks) + ranks[inside]
    keys, place = np.unique(rows, return_inverse=True)
    width = np.zeros(int(part.max()) + 1, np.int64)
    in_rows = np.bincount(place, widths[inside]).astype(np.int64)
    np.maximum.at(width, keys // len(ranks), in_rows)
    ends = np.cumsum(width)
    all_of_them = int(ends[-1])
    if wide < WIDE:
        count = ceil(all_of_them / wide)
    else:
        count = ceil(sqrt(all_of_them / (SHAPE * ROW * height)))
    band_of = (ends - width) * count // max(1, all_of_them)
    # a part that is wider than a band leaves none behind it empty
    _, band_of = np.unique(band_of, return_inverse=True)
    bands: Ints = band_of[part]
    return bands


def _parts(inside: Ints, arcs: Ints, count: int) -> Ints:
    """Number the parts that ``arcs`` join, in the order of their first vertices; return that of
    each of the vertices ``inside``."""
    is_inside = np.zeros(count, np.bool_)
    is_inside[inside] = True
    root = list(range(count))

    def find(vertex: int) -> int:
        while root[vertex] != vertex:
            root[vertex] = vertex = root[root[vertex]]
        return vertex

    for one, other in arcs[is_inside[arcs].all(axis=1)].tolist():
        a, b = find(one), find(other)
        root[max(a, b)] = min(a, b)
    _, parts = np.unique([find(vertex) for vertex in inside.tolist()], return_inverse=True)
    return parts
