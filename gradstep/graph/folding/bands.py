"""Bands: neighbours that have nothing in common but their place, cut into parts of like size.

A graph without modules and repeats folds by nothing else.  A band is an interval in the order in
which ops ran, which is why it is entered and left like one op; it begins where few values are
still needed, so that few lines run between two bands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from gradstep.graph.folding.chains import Heads
from gradstep.graph.folding.repeats import Wiring
from gradstep.graph.folding.tree import Fold
from gradstep.graph.folding.units import Units

MOST_SIBLINGS: Final = 60
"""So many things side by side can still be drawn one by one."""

FEW_SIBLINGS: Final = 6
"""So many where there is little room."""

MOST_OPS: Final = 30
"""So many single ops outside of modules can: with both halves shown, they are twice as many."""

WIDTH: Final = 18
"""So many bands lie side by side, at most: both halves of them fit a screen."""


class Lines(NamedTuple):
    """The lines of a file at which the ops of a fold ran."""

    file: str
    first: int
    last: int


def cut_into_bands(
    siblings: Sequence[Fold], units: Units, heads: Heads, lines: Sequence[Lines], width: int
) -> list[range]:
    """Return the bands of ``siblings``, of which there are more than ``width``; they may be too
    many to lie side by side, and then need bands of their own.

    ``lines`` has those of each, where one follows the other in the program: there, a band begins
    with a line, if it can.
    """
    length = len(siblings)
    levels = math.ceil(math.log(length, width))
    size = math.ceil(length ** (1 / levels))
    crossing = _values_across(Wiring(siblings, units, heads).last_use)
    slack = size // 4
    cuts = [0]
    while length - cuts[-1] > size + slack:
        about = cuts[-1] + size
        near: Sequence[int] = range(about - slack, min(about + slack, length - 1) + 1)
        if lines:
            near = [at for at in near if lines[at].first > lines[at - 1].last] or near
        cuts.append(min(near, key=lambda at: (crossing[at], abs(at - about))))
    return [range(start, stop) for start, stop in zip(cuts, [*cuts[1:], length], strict=True)]


def _values_across(last_use: Sequence[int]) -> list[int]:
    """Count for each sibling the values made before it that it or a later one reads.

    >>> _values_across([2, 2, -1])
    [0, 1, 2]
    """
    change = [0] * (len(last_use) + 1)
    for index, last in enumerate(last_use):
        if last > index:
            change[index + 1] += 1
            change[min(last, len(last_use) - 1) + 1] -= 1
    across, level = [], 0
    for step in change[: len(last_use)]:
        level += step
        across.append(level)
    return across
