"""What the objects of the program did between its calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar
from weakref import ref

from gradstep.contract.events import Event, Events, Passed, noted
from gradstep.findings.facts import Fact
from gradstep.recording.look import Look

_E = TypeVar("_E", bound=Event)


class Happened(Fact):
    """What optimizers, schedulers, modules, and functions that clip gradients did."""

    def __init__(self) -> None:
        self._events = Events()
        self._names: dict[int, tuple[ref[Any], str]] = {}

    def before(self, look: Look) -> None:
        events = noted.get()
        if events is None:
            return
        self._events = events
        leaves = events.same(frozenset([id(leaf) for leaf in look.reached]))
        events.add(Passed, index=look.facts.index, source=look.line, leaves=leaves)

    def closely(self, look: Look) -> None:
        for things in (look.names.optimizers, look.names.modules):
            for name, thing in things.items():
                known = ref(thing)  # the same object as that of its events
                self._names[id(known)] = known, name

    def of(self, *kinds: type[_E]) -> Sequence[_E]:
        """Return the events of some kinds, in order."""
        return self._events.of(*kinds)

    def is_full(self, kind: type[Event]) -> bool:
        """Return whether there may have been more events of a kind than are known."""
        return self._events.is_full(kind)

    def name(self, thing: ref[Any] | None, otherwise: str = "") -> str:
        """Return what the program calls an object."""
        known, name = self._names.get(id(thing), (None, otherwise))
        return name if known is thing else otherwise
