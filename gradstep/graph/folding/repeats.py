"""Rounds: neighbours that are built alike, and wired alike.

Scopes in a row with the same structure are a repeat (``layers.0 … layers.47``).  Ops in a row
that come again and again in the same order, each reading what its predecessor one round earlier
would, are the steps of a loop; where no round reads another they are siblings, and a repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradstep.graph.columns import Ints
from gradstep.graph.folding.chains import Heads
from gradstep.graph.folding.periods import periodic_stretches
from gradstep.graph.folding.tree import Fold, heads_below
from gradstep.graph.folding.units import Units

LEAST_SCOPES = 2
LEAST_ROUNDS = 4
LEAST_OPS = 8
"""Fewer ops, or fewer rounds, may well look alike by chance."""


class Rounds(NamedTuple):
    """``number`` rounds of ``period`` neighbours from ``start`` on; ``labels`` are the names of
    the rounds, None for those that have none; ``apart`` says that no round reads another.

    ``lead`` neighbours before them are a first round that lacks its beginning: what that has would
    have no gradient.
    """

    start: int
    period: int
    number: int
    labels: tuple[str, ...] | None
    apart: bool = False
    lead: int = 0

    @property
    def stop(self) -> int:
        return self.start + self.period * self.number


def find_rounds(
    siblings: Sequence[Fold], symbols: Sequence[int], units: Units, heads: Heads, scope: str
) -> list[Rounds]:
    """Return the rounds among siblings, in order and without overlap; those with equal ``symbols``
    may be the same part of several rounds."""
    if len(siblings) < LEAST_SCOPES:
        return []
    wiring: Wiring | None = None
    taken = bytearray(len(siblings))
    repeats = []
    for start, stop, period in periodic_stretches(symbols):
        if any(taken[start:stop]):
            continue
        whole = period == 1 and siblings[start].kind == "scope"
        if not whole:
            if not _enough(siblings, start, stop, period):
                continue
            if wiring is None:
                wiring = Wiring(siblings, units, heads)
            start = wiring.natural_start(start, stop, period)
        count = (stop - start) // period
        if wiring is not None and not whole and not wiring.regular(start, period, count):
            continue
        rounds = Rounds(start, period, count, None)
        rounds = rounds._replace(
            labels=_labels(siblings, units, rounds, scope),
            apart=wiring is not None and not whole and wiring.apart(rounds),
        )
        if rounds.labels is None and not rounds.apart:
            rounds = rounds._replace(lead=_lead(symbols, taken, rounds))
        start -= rounds.lead
        taken[start : rounds.stop] = b"\1" * (rounds.stop - start)
        repeats.append(rounds)
    return sorted(repeats)


def _lead(symbols: Sequence[int], taken: Sequence[int], rounds: Rounds) -> int:
    """Count the neighbours before the rounds that are the end of another one, if most of it is
    there."""
    start, period = rounds.start, rounds.period
    lead = 0
    while (
        lead < min(period - 1, start)
        and not taken[start - lead - 1]
        and symbols[start - lead - 1] == symbols[start + period - lead - 1]
    ):
        lead += 1
    return lead if 2 * lead > period else 0


def _enough(siblings: Sequence[Fold], start: int, stop: int, period: int) -> bool:
    heads = sum(one.heads for one in siblings[start : start + period])
    rounds = (stop - start) // period
    return rounds >= LEAST_ROUNDS and rounds * heads >= LEAST_OPS


def _labels(
    siblings: Sequence[Fold], units: Units, rounds: Rounds, scope: str
) -> tuple[str, ...] | None:
    """Name the rounds: by the scope, or the module of the parameters, that each has for
    itself."""
    labels: dict[str, None] = {}
    for number in range(rounds.number):
        start = rounds.start + number * rounds.period
        paths = [
            path
            for one in siblings[start : start + rounds.period]
            for path in _paths(one, units, scope)
        ]
        label = _common_path(paths)
        if not label or label in labels:
            return None
        if not _may_be_called(siblings[start : start + rounds.period], label, scope):
            return None
        labels[label] = None
    return tuple(labels)


def _paths(fold: Fold, units: Units, scope: str) -> list[str]:
    """Scopes inside ``scope``, and modules of parameters, that ``fold`` belongs to."""
    if fold.kind == "scope":
        return [fold.label]
    paths = []
    stack = [fold]
    while stack:
        one = stack.pop()
        stack.extend(one.children)
        if one.scope != scope and one.scope.startswith(f"{scope}." if scope else ""):
            paths.append(one.scope)
        elif one.kind == "head":
            names = units.parameters.get(one.unit, ())
            paths += [name.rpartition(".")[0] for name in names if "." in name]
    return paths


def _may_be_called(folds: Sequence[Fold], module: str, scope: str) -> bool:
    """Return whether no op of ``folds`` is known to run outside of ``module``: all run inside it,
    or of none is known more than ``scope``, the scope around them."""
    scopes = {head.scope for fold in folds for head in heads_below(fold)}
    return scopes == {scope} or all(one == module or one.startswith(f"{module}.") for one in scopes)


def _common_path(paths: list[str]) -> str:
    """
    >>> _common_path(["layers.1.norm", "layers.1.fc.0"])
    'layers.1'
    """
    if not paths:
        return ""
    first, last = min(paths).split("."), max(paths).split(".")
    shared = 0
    while shared < min(len(first), len(last)) and first[shared] == last[shared]:
        shared += 1
    return ".".join(first[:shared])


class Wiring:
    """The siblings that read each other, by their positions among the siblings.

    Sibling ``i`` reads ``producers[starts[i] : starts[i + 1]]``, each once, in the order of its
    inputs; ``last_use`` is the last sibling that reads it, their number for one that others read,
    -1 for none.
    """

    def __init__(self, siblings: Sequence[Fold], units: Units, heads: Heads) -> None:
        outside = len(siblings)
        position = np.full(len(units) + 1, -1, np.int64)
        position[[head.unit for one in siblings for head in heads_below(one)]] = np.repeat(
            np.arange(outside), [one.heads for one in siblings]
        )
        place = position[np.array(heads.mains, np.int64)]  # of each unit, -1 outside
        inside = place >= 0
        last_users = np.array(units.last_users, np.int64)
        last_use = np.full(outside, -1, np.int64)
        read = inside & (last_users >= 0)
        last_reader = place[last_users[read]]
        last_reader[last_reader < 0] = outside
        np.maximum.at(last_use, place[read], last_reader)
        self.last_use: list[int] = last_use.tolist()

        readers = np.repeat(place, units.inputs.sizes)
        producers = place[np.array(units.inputs.flat, np.int64)]
        links = (readers >= 0) & (producers >= 0) & (readers != producers)
        readers, producers = readers[links], producers[links]
        # of several links between two siblings the first counts
        _, firsts = np.unique(readers * outside + producers, return_index=True)
        firsts = firsts[np.argsort(readers[firsts] * len(readers) + firsts)]
        self._readers, self._producers = readers[firsts], producers[firsts]
        self._starts = np.searchsorted(self._readers, np.arange(outside + 1))

    def _between(self, start: int, stop: int) -> tuple[Ints, Ints]:
        """Return the links of the siblings from ``start`` to ``stop``: who reads, and what."""
        links = slice(self._starts[start], self._starts[stop])
        return self._readers[links], self._producers[links]

    def natural_start(self, start: int, stop: int, period: int) -> int:
        """Find where a round begins: where the fewest values pass from one round to the next."""
        middle = start + period * max((stop - start) // period // 2, 1)
        # what is read behind the rounds only, such as all their results, passes everywhere
        readers, producers = self._between(start, stop)
        readers, producers = readers[producers >= start], producers[producers >= start]
        sources, reversed_at = np.unique(producers[::-1], return_index=True)
        last_readers = readers[::-1][reversed_at]
        change = np.zeros(stop - start + 2, np.int64)
        np.add.at(change, sources - start + 1, 1)
        np.subtract.at(change, last_readers + 1 - start, 1)
        alive = np.cumsum(change)

        def cost(offset: int) -> tuple[int, int, int]:
            crossing = int(alive[middle + offset - start])
            return crossing, -((stop - start - offset) // period), offset

        offsets = range(min(period, stop - middle))
        return start + min(offsets, key=cost)

    def apart(self, rounds: Rounds) -> bool:
        """Return whether no round reads another one."""
        readers, producers = self._between(rounds.start, rounds.stop)
        of = (producers - rounds.start) // rounds.period
        others = of != (readers - rounds.start) // rounds.period
        return not (others & (producers >= rounds.start) & (producers < rounds.stop)).any()

    def regular(self, start: int, period: int, count: int) -> bool:
        """Return whether each round reads what the round before it would have read a round earlier,
        or something that stays; the first round may differ."""
        if count < LEAST_ROUNDS:
            return False
        begins = self._starts[start + period : start + period * count]
        counts = self._starts[start + period + 1 : start + period * count + 1] - begins
        first, second, third = (
            slice(period * number, len(begins) - period * (2 - number)) for number in range(3)
        )
        shared = np.minimum(np.minimum(counts[first], counts[second]), counts[third])
        at = np.flatnonzero(shared > 0)
        nr = 0
        while len(at):  # the inputs of all siblings with so many
            one, two, three = (
                self._producers[begins[part][at] + nr] for part in (first, second, third)
            )
            if (two - one != three - two).any():
                return False
            nr += 1
            at = at[shared[at] > nr]
        return True
