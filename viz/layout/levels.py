"""Levels: the heights at which lines to saved values cross the gap between the halves in one row.

A line that leaves the last forward box of a row sideways, and one that enters the first backward
box there, would read as one line at the same height.  So all lines of a row have heights of their
own; only those that enter the same box may share the last stretch when there are too many.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

GAPS = ((20, 16), (18, 12), (16, 10), (14, 9), (13, 8))
"""Between lines that leave a box, which have their text above them, and between others; the first
pair that there is room for."""

MARGIN = 10
ENTRY_MARGIN = 7


class Levels(NamedTuple):
    """Heights, counted down from the middle of the row: of lines that only enter, of those that run
    straight from side to side, and of those that only leave."""

    entering: tuple[int, ...]
    straight: tuple[int, ...]
    leaving: tuple[int, ...]


@functools.lru_cache(maxsize=4096)
def find_levels(
    entering: int, straight: int, leaving: int, source_height: int, target_height: int
) -> Levels | None:
    """Find heights for so many lines of each kind, at boxes of these heights; None where there is
    no room for them.

    >>> find_levels(1, 2, 0, 46, 46)
    Levels(entering=(-15,), straight=(-5, 11), leaving=())
    >>> find_levels(0, 4, 0, 30, 46) is None
    True
    """
    enters, leaves = target_height // 2 - ENTRY_MARGIN, source_height // 2 - MARGIN
    within = min(leaves, target_height // 2 - MARGIN)
    reaches = [enters] * entering + [within] * straight + [leaves] * leaving
    for leaving_gap, gap in GAPS:
        gaps = [gap] * entering + [gap] * min(1, straight + leaving)
        gaps += [leaving_gap] * (straight + leaving - 1)
        found = _spread(reaches, gaps)
        if found is not None:
            last = entering + straight
            return Levels(found[:entering], found[entering:last], found[last:])
    return None


def _spread(reaches: Sequence[int], gaps: Sequence[int]) -> tuple[int, ...] | None:
    """Spread heights in order, none further from the middle than its reach, each its gap below the
    one before: halfway between the highest and the lowest that these allow."""
    highest: list[int] = []
    for reach, gap in zip(reaches, gaps, strict=True):
        highest.append(max(-reach, highest[-1] + gap) if highest else -reach)
    lowest: list[int] = []
    for reach, gap in zip(reversed(reaches), [0, *reversed(gaps)], strict=False):
        lowest.append(min(reach, lowest[-1] - gap) if lowest else reach)
    both = list(zip(highest, reversed(lowest), strict=True))
    fits = all(high <= low for high, low in both)
    return tuple((high + low) // 2 for high, low in both) if fits else None
