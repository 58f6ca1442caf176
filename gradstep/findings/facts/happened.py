"""What the objects of the program did between its calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from gradstep.contract.events import Event, Events, Thing, noted
from gradstep.findings.facts import Fact, Happenings
from gradstep.recording.look import Look
from gradstep.recording.run import Run

_E = TypeVar("_E", bound=Event)


class Happened(Fact):
    """What optimizers, schedulers, modules, and functions that clip gradients did."""

    needs = (Happenings,)

    def __init__(self) -> None:
        self._events = Events()

    def read(self, run: Run) -> None:
        self._events = run.events

    def before(self, look: Look) -> None:
        if (events := noted.get()) is not None:
            self._events = events

    def of(self, *kinds: type[_E]) -> Sequence[_E]:
        """Return the events of some kinds, in order."""
        return self._events.of(*kinds)

    def is_full(self, kind: type[Event]) -> bool:
        """Return whether there may have been more events of a kind than are known."""
        return self._events.is_full(kind)

    def name(self, thing: Thing | None, otherwise: str = "") -> str:
        """Return what the program calls an object."""
        return self._events.name(thing, otherwise)

    def leaf(self, identity: int) -> str:
        """Return what the program calls a leaf, "" where that is not known."""
        return self._events.leaves.get(identity, "")
