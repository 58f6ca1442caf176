"""Rounds: neighbours that are built alike, and wired alike.

Scopes in a row with the same structure are a repeat (``layers.0 … layers.47``).  Ops in a row
that come again and again in the same order, each reading what its predecessor one round earlier
would, are the steps of a loop; where no round reads another they are siblings, and a repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, groupby
from typing import NamedTuple

from autograd_core.dag.folding.chains import Heads
from autograd_core.dag.folding.periods import periodic_stretches
from autograd_core.dag.folding.tree import Fold
from autograd_core.dag.folding.units import Units

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
    found = []
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
        found.append(rounds)
    return sorted(found)


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
    labels = []
    for number in range(rounds.number):
        start = rounds.start + number * rounds.period
        paths = [
            path
            for one in siblings[start : start + rounds.period]
            for path in _paths(one, units, scope)
        ]
        labels.append(_common_path(paths))
    return tuple(labels) if all(labels) and len(set(labels)) == len(labels) else None


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
    """The siblings that read each other, by their positions among the siblings."""

    def __init__(self, siblings: Sequence[Fold], units: Units, heads: Heads) -> None:
        position: dict[int, int] = {}
        for index, one in enumerate(siblings):
            stack = [one]
            while stack:
                fold = stack.pop()
                stack.extend(fold.children)
                if fold.kind == "head":
                    position[fold.unit] = index
        mains, outside = heads.mains, len(siblings)
        self.inputs: list[tuple[int, ...]] = [()] * outside
        self.last_use = [-1] * outside
        for index, group in groupby(position, position.__getitem__):
            producers: dict[int, None] = {}
            for unit in chain.from_iterable(map(heads.members, group)):
                if units.user_counts[unit]:
                    reader = position.get(mains[units.last_users[unit]], outside)
                    self.last_use[index] = max(self.last_use[index], reader)
                for source in units.inputs[unit]:
                    producers[position.get(mains[source], index)] = None
            producers.pop(index, None)
            self.inputs[index] = tuple(producers)

    def natural_start(self, start: int, stop: int, period: int) -> int:
        """Find where a round begins: where the fewest values pass from one round to the next."""
        middle = start + period * max((stop - start) // period // 2, 1)
        # what is read behind the rounds only, such as all their results, passes everywhere
        last_use = {source: index for index in range(start, stop) for source in self.inputs[index]}
        change = [0] * (stop - start + 2)
        for source, index in last_use.items():
            if source >= start:
                change[source - start + 1] += 1
                change[index + 1 - start] -= 1
        alive, level = [], 0
        for step in change:
            level += step
            alive.append(level)

        def cost(offset: int) -> tuple[int, int, int]:
            return alive[middle + offset - start], -((stop - start - offset) // period), offset

        offsets = range(min(period, stop - middle))
        return start + min(offsets, key=cost)

    def apart(self, rounds: Rounds) -> bool:
        """Return whether no round reads another one."""
        for index in range(rounds.start, rounds.stop):
            first = index - (index - rounds.start) % rounds.period
            for source in self.inputs[index]:
                if rounds.start <= source < first or first + rounds.period <= source < rounds.stop:
                    return False
        return True

    def regular(self, start: int, period: int, count: int) -> bool:
        """Return whether each round reads what the round before it would have read a round earlier,
        or something that stays; the first round may differ."""
        if count < LEAST_ROUNDS:
            return False
        for index in range(start + period, start + (count - 2) * period):
            rounds = (self.inputs[index + period * number] for number in range(3))
            for first, second, third in zip(*rounds, strict=False):
                if second - first != third - second:
                    return False
        return True
