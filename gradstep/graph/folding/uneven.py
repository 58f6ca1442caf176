"""Rounds of a loop that are not all alike: an adaptive solver takes as many steps as it needs, and
does more in some of them.

Each round begins with the same statement: an op that comes again and again at one line of the
program, with much the same ops between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from gradstep.graph.folding.repeats import LEAST_OPS, LEAST_ROUNDS
from gradstep.graph.folding.tree import Fold

MOST_TRIED: Final = 16
"""So many statements, those that span most, are tried as the first one of a loop."""


def find_uneven_rounds(siblings: Sequence[Fold], symbols: Sequence[int]) -> list[range]:
    """Return the rounds of the loop that covers most of ``siblings``, or nearly as much as that and
    begins first; [] where there is none.

    Those with equal ``symbols`` do the same at the same line.
    """
    places: dict[int, list[int]] = {}
    for place, symbol in enumerate(symbols):
        if siblings[place].kind == "head":
            places.setdefault(symbol, []).append(place)
    often = [found for found in places.values() if len(found) >= LEAST_ROUNDS]
    loops: list[list[range]] = []
    for starts in sorted(often, key=lambda found: found[0] - found[-1])[:MOST_TRIED]:
        rounds = [range(*ends) for ends in pairwise([*starts, _end(symbols, starts)])]
        sizes = [sum(one.heads for one in siblings[each.start : each.stop]) for each in rounds]
        if min(sizes) >= LEAST_OPS and _much_alike(symbols, rounds):
            loops.append(rounds)
    spans = [rounds[-1].stop - rounds[0].start for rounds in loops]
    wide = [one for one, span in zip(loops, spans, strict=True) if 4 * span >= 3 * max(spans)]
    return min(wide, key=lambda one: one[0].start, default=[])


def _end(symbols: Sequence[int], starts: Sequence[int]) -> int:
    """Find where the last round ends: behind the last op that another round has, too."""
    known = set(symbols[starts[0] : starts[-1]])
    return next(at for at in range(len(symbols), 0, -1) if symbols[at - 1] in known)


def _much_alike(symbols: Sequence[int], rounds: Sequence[range]) -> bool:
    """Tell whether each two rounds in a row share at least half of the shorter one."""
    counts = [Counter(symbols[one.start : one.stop]) for one in rounds]
    return all(
        2 * (one & other).total() >= min(one.total(), other.total())
        for one, other in pairwise(counts)
    )
