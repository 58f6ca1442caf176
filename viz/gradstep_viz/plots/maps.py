"""A map of a whole run: rows of leaves, columns of calls, and in each cell the worst of its
sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradstep_viz.plots.columns import Columns
from gradstep_viz.plots.rows import Row
from gradstep_viz.plots.sizes import Flags, Ints, Numbers, Sizes, State

T = TypeVar("T", bound=np.generic)

NOBODY: Final = -1
"""The call and the leaf of a cell of which nothing is known."""


class Cell(NamedTuple):
    """The worst that is known of the leaves and calls of a cell: that of ``leaf`` in ``call``.

    ``jumps`` says whether that is a jump, ``among`` of how many sizes it is the worst.
    """

    state: State
    value: float
    jumps: bool
    leaf: int
    call: int
    among: int


@dataclass(frozen=True)
class Map:
    """Cells by row and column, each fact in an array of that shape."""

    rows: Sequence[Row]
    columns: Columns
    sizes: Sizes
    states: Ints
    values: Numbers
    jumps: Flags
    leaves: Ints
    calls: Ints
    among: Ints

    def __getitem__(self, place: tuple[int, int]) -> Cell:
        return Cell(
            State(int(self.states[place])),
            float(self.values[place]),
            bool(self.jumps[place]),
            int(self.leaves[place]),
            int(self.calls[place]),
            int(self.among[place]),
        )


def map_of(rows: Sequence[Row], columns: Columns, sizes: Sizes) -> Map:
    """Return the map in which each cell shows the worst of its sizes.

    NaN is worse than Inf, that than a jump, and that than any other size; of these, the worse one
    is farther, as a ratio, from the median of its leaf.  Of equally bad ones, the first is shown.
    """
    shape = len(rows), len(columns)
    row_of = np.full(1 + max((leaf for row in rows for leaf in row.leaves), default=0), NOBODY)
    for number, row in enumerate(rows):
        row_of[list(row.leaves)] = number
    inside = sizes.leaves < len(row_of)
    inside[inside] = row_of[sizes.leaves[inside]] >= 0
    places = np.flatnonzero(inside)
    cell = row_of[sizes.leaves[places]] * len(columns) + columns.of(sizes.calls[places])

    states = np.full(shape, State.UNRECORDED, np.int64)
    states[:, np.unique(columns.of(sizes.recorded))] = State.ABSENT
    order = np.lexsort((places, -sizes.distances[places], -severity(sizes)[places], cell))
    at, first, counts = np.unique(cell[order], return_index=True, return_counts=True)
    worst = places[order[first]]

    def laid_out(values: NDArray[T], otherwise: float) -> NDArray[T]:
        cells = np.full(shape, otherwise, values.dtype)
        cells.flat[at] = values
        return cells

    states.flat[at] = sizes.states[worst]
    return Map(
        rows, columns, sizes, states, laid_out(sizes.values[worst], 0),
        laid_out(sizes.jumps[worst], False), laid_out(sizes.leaves[worst], NOBODY),
        laid_out(sizes.calls[worst], NOBODY), laid_out(counts, 0),
    )  # fmt: skip


def severity(sizes: Sizes) -> Ints:
    """Return how bad each size is, whatever it is: NaN, Inf, a jump, any other, none."""
    ranks = np.zeros(len(sizes), np.int64)
    ranks[sizes.known] = 1
    ranks[sizes.jumps] = 2
    ranks[sizes.states == State.INF] = 3
    ranks[sizes.states == State.NAN] = 4
    return ranks
