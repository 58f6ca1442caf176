"""Where an op stands in the program: the modules and the rounds of loops around it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from gradstep.graph.folding.units import Units
from gradstep.graph.model import Graph, Round


class Segment(NamedTuple):
    """A module, a loop, or a round of one; ``number`` tells loops, rounds, and calls of a module
    apart, and is -1 where nothing is known of calls."""

    kind: Literal["scope", "loop", "iteration"]
    label: str
    scope: str
    number: int = -1


_Key = tuple[str, tuple[Round, ...], int]


class Paths:
    """Tells the path of each unit, from the outermost segment on.

    A loop stands in the innermost call of a module that all of it runs in.
    """

    def __init__(self, graph: Graph, units: Units) -> None:
        rounds = graph.rounds
        pairs = zip(units.forward, units.backward, strict=True)
        self._rounds = [rounds.get(one) or rounds.get(other, ()) for one, other in pairs]
        self._scopes = units.scopes
        self._calls, calls = graph.calls, graph.call_of
        self._call_of = [
            calls.get(one, calls.get(other, -1))
            for one, other in zip(units.forward, units.backward, strict=True)
        ]
        self._last: tuple[_Key, tuple[Segment, ...]] = ("", (), -1), ()
        self._depth_of: dict[int, int] = {}
        known: dict[int, Sequence[tuple[str, int]]] = {}
        places = zip(units.scopes, self._rounds, self._call_of, strict=True)
        for (scope, around, call), _ in groupby(places):
            numbers = self._calls_around(call) if around else {}
            names = _names(scope) if around else ()
            inside = [
                (name, numbers.get(".".join(names[: at + 1]), -1)) for at, name in enumerate(names)
            ]
            for one in around:
                first = known.setdefault(one.loop, inside)
                depth = self._depth_of.get(one.loop, len(first))
                self._depth_of[one.loop] = _shared(first[:depth], inside)

    def of(self, unit: int) -> tuple[Segment, ...]:
        """Return the path of a unit: the same one as of the last unit, where it is equal."""
        key = self._scopes[unit], self._rounds[unit], self._call_of[unit]
        if key != self._last[0]:
            self._last = key, self._path(*key)
        return self._last[1]

    def _calls_around(self, call: int) -> dict[str, int]:
        """Return a call of a module and those around it, by the module."""
        calls: dict[str, int] = {}
        while call >= 0:
            calls.setdefault(self._calls[call].module, call)
            call = self._calls[call].outer
        return calls

    def _path(self, scope: str, rounds: tuple[Round, ...], call: int) -> tuple[Segment, ...]:
        names, calls = _names(scope), self._calls_around(call)
        path: list[Segment] = []
        depth = 0

        def enter(until: int) -> int:
            for length in range(depth + 1, until + 1):
                inner = ".".join(names[:length])
                path.append(Segment("scope", inner, inner, calls.get(inner, -1)))
            return max(depth, until)

        for one in rounds:
            depth = enter(self._depth_of[one.loop])
            around = ".".join(names[:depth])
            path.append(Segment("loop", "", around, one.loop))
            path.append(Segment("iteration", one.label, around, one.number))
        enter(len(names))
        return tuple(path)


def _names(scope: str) -> Sequence[str]:
    return scope.split(".") if scope else ()


def _shared(one: Sequence[object], other: Sequence[object]) -> int:
    """Count what two paths have in common from the start."""
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count
