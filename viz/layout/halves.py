"""Halves: how wide each is, once it has closed the gaps that the other half needs.

Both halves have the columns of one grid, so that each is the mirror of the other.  Where a
half has nothing in a column, or something narrow, it moves together; order stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from autograd_core.dag.model import Half
from viz import geometry, theme
from viz.layout.layers import Layers
from viz.layout.ranks import Arc
from viz.layout.tracks import Span
from viz.picture import Picture

WIDEST_GAP = 64
BEND_WIDTH = 10
LABEL_AWAY = 10
PORT_STEP = 34


def occupied(
    picture: Picture,
    half: Half,
    vertex: Sequence[int],
    sizes: Sequence[tuple[int, int]],
    arcs: Sequence[Arc | None],
    layers: Layers,
    x: Sequence[float],
) -> Iterator[Span]:
    """From where to where the boxes, lanes and labels of a half reach, whatever their row."""
    for box, one, (width, _) in zip(picture.boxes, vertex, sizes, strict=True):
        if box.half == half:
            yield x[one] - width / 2, x[one] + width / 2
    seen: set[Arc] = set()
    for line, arc in zip(picture.lines, arcs, strict=True):
        if arc is None or picture.boxes[line.source].half != half:
            continue
        upper_x, lower_x = x[arc[0]], x[arc[1]]
        if line.label:
            room = geometry.text_width(line.label, theme.MUTED_SIZE) + LABEL_AWAY
            yield upper_x, upper_x + room
            if lower_x != upper_x:
                yield lower_x, lower_x + room
            if upper_x < lower_x:
                yield upper_x - room, upper_x
            if arc in seen:  # two lines side by side: one of them is labelled on the left
                yield upper_x - room - PORT_STEP / 2, upper_x
            seen.add(arc)
        if bends := layers.chains.get(arc):
            for here in set(x[bends.start : bends.stop]):
                yield here - BEND_WIDTH, here + BEND_WIDTH


def close_gaps(spans: Iterable[Span], x: Sequence[float]) -> tuple[list[float], Span]:
    """Where each x is when no gap between the spans is too wide, and where it all ends then.

    >>> close_gaps([(0, 100), (300, 400), (20, 130)], [50, 350])
    ([50.0, 244.0], (0.0, 294.0))
    """
    pairs = np.fromiter(chain.from_iterable(spans), np.float64).reshape(-1, 2)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    lows, reach = pairs[:, 0], np.maximum.accumulate(pairs[:, 1])
    surplus = np.maximum(lows[1:] - reach[:-1] - WIDEST_GAP, 0.0)
    wide = np.flatnonzero(surplus)
    shifts = np.concatenate(([0.0], np.cumsum(np.floor(surplus[wide]))))
    places = np.array(x, np.float64)
    moved = places - shifts[np.searchsorted(lows[1:][wide], places, "right")]
    return moved.tolist(), (float(lows[0]), float(reach[-1] - shifts[-1]))
