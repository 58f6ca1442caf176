"""Runs in a sequence that repeat with a period: what a loop leaves behind, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

LONGEST_GRAM = 4096
VOTES = 3

Numbers = NDArray[np.int64]


def periodic_stretches(symbols: Sequence[int], least: int = 2) -> Iterator[tuple[int, int, int]]:
    """Stretches (start, stop, period) of at least ``least`` whole periods, short periods first.

    Stretches of one period are as long as can be.  Periods that no pair of equal n-grams has as
    its distance are not tried, so that the time is n log n.

    >>> list(periodic_stretches([7, 1, 2, 1, 2, 1, 2, 9]))
    [(1, 7, 2)]
    """
    row = np.asarray(symbols, dtype=np.int64)
    for period in _likely_periods(row):
        equal = row[period:] == row[:-period]
        bounds = np.flatnonzero(np.diff(np.concatenate(([False], equal, [False])).astype(np.int8)))
        for start, stop in bounds.reshape(-1, 2).tolist():
            if stop - start + period >= least * period:
                yield start, stop + period, period


def _likely_periods(row: Numbers) -> list[int]:
    """Return the commonest distances between an n-gram and its next occurrence, n = 1, 2, 4, ..."""
    periods: set[int] = set()
    grams, length = row, 1
    while len(grams) > 1 and length <= LONGEST_GRAM:
        order = np.argsort(grams, kind="stable")
        ranked = grams[order]
        same = ranked[1:] == ranked[:-1]
        if not same.any():
            break
        votes = np.bincount((order[1:] - order[:-1])[same])
        for distance in np.argsort(-votes, kind="stable")[:VOTES].tolist():
            if votes[distance] >= distance > 0 and 2 * distance <= len(row):
                periods.add(distance)
        # name the grams of twice the length by the pair of names that their halves have
        names = np.empty(len(grams), dtype=np.int64)
        names[order] = np.concatenate(([0], np.cumsum(~same)))
        grams = names[:-length] * len(row) + names[length:]
        length *= 2
    return sorted(periods)
