"""What the objects of the program did between its calls."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, TypeVar

from gradstep.contract.events import Cleared, Event, Events, Passed, Stepped, Thing, noted
from gradstep.findings.facts import Fact, Happenings
from gradstep.recording.look import Look

if TYPE_CHECKING:
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

    def stepping(self) -> frozenset[str]:
        """Return the names of the optimizers that step; none if one of them is not known."""
        names = {self.name(step.thing) for step in self.of(Stepped)}
        return frozenset() if "" in names else frozenset(names)

    def wastes(self, names: Collection[str]) -> bool:
        """Return whether what passes through other leaves, too, bring to the leaves ``names`` is
        cleared each time before an optimizer steps with it."""
        own = {identity for identity, name in self._events.leaves.items() if name in names}
        waiting: set[int] = set()
        has_wasted = False
        for event in self.of(Passed, Cleared, Stepped):
            match event:
                case Passed(leaves=leaves) if leaves - own:
                    waiting |= leaves & own
                case Cleared(leaves=leaves):
                    has_wasted = has_wasted or not waiting.isdisjoint(leaves)
                    waiting -= leaves
                case Stepped(leaves=leaves) if not waiting.isdisjoint(leaves):
                    return False
        return has_wasted

    def leaf(self, identity: int) -> str:
        """Return what the program calls a leaf, "" where that is not known."""
        return self._events.leaves.get(identity, "")
