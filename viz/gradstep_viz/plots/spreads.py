"""The sizes of each row over a whole run in a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradstep_viz.plots.rows import Row
from gradstep_viz.plots.sizes import Sizes, State


class Spread(NamedTuple):
    """The sizes of a row over all calls.

    Attributes:
        least, median, greatest: of those that are not 0, None without any.
        known: how many are known.
        zeros, troubled: how many of these are 0, and how many Inf or NaN.
    """

    least: float | None
    median: float | None
    greatest: float | None
    known: int
    zeros: int
    troubled: int

    @property
    def is_zero(self) -> bool:
        """Whether all that is known is 0."""
        return 0 < self.zeros == self.known


def spreads_of(rows: Sequence[Row], sizes: Sizes) -> list[Spread]:
    """Return the spread of each row."""
    return [_spread(sizes, np.isin(sizes.leaves, row.leaves)) for row in rows]


def _spread(sizes: Sizes, inside: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Spread:
    states = sizes.states[inside]
    values = np.sort(sizes.values[inside][states == State.SIZE])
    least, median, greatest = (
        (float(values[0]), float(values[(len(values) - 1) // 2]), float(values[-1]))
        if len(values)
        else (None, None, None)
    )
    zeros, troubled = int((states == State.ZERO).sum()), int((states >= State.INF).sum())
    return Spread(least, median, greatest, len(values) + zeros + troubled, zeros, troubled)
