"""What the objects of a program did between its backward passes: optimizers, schedulers, modules,
and what clips gradients.

Whoever traces a program notes it; whoever explains a run reads it. Of objects there are weak
references, and of tensors only identities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from weakref import ref

from gradstep.graph.model import Source

MOST: Final = 20_000
"""Events of a kind that are remembered, the first ones."""
_E = TypeVar("_E", bound="Event")
Leaves = frozenset[int]
"""Tensors, by identity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened: to which object, and on which line of the program.

    ``number`` is its place among all events.
    """

    number: int
    thing: ref[Any] | None = None
    kind: str = ""
    source: Source | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed(Event):
    """A backward pass begins, which adds to the ``.grad`` of leaves; call ``index`` of the run."""

    index: int
    leaves: Leaves


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepped(Event):
    """An optimizer has stepped: ``leaves`` have a gradient, ``rates`` are those of its groups."""

    leaves: Leaves
    rates: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared(Event):
    """An optimizer, or a module, has cleared the gradients of leaves."""

    leaves: Leaves


@dataclass(frozen=True, slots=True, kw_only=True)
class Clipped(Event):
    """A function, its ``kind``, has clipped gradients: of ``count`` tensors, of which ``leaves``
    have one."""

    count: int
    leaves: Leaves
    was_iterator: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled(Event):
    """A scheduler has stepped, to ``place`` of ``length``, None where it does not say: it was
    ``given`` this, the rates are ``rates``, and the ``highest`` one that it leads to is known, or
    0; ``is_inner`` where another scheduler let it."""

    optimizer: ref[Any] | None
    place: int
    given: float | None
    rates: tuple[float, ...]
    length: int | None
    highest: float
    is_inner: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded(Event):
    """A module has ``loaded`` so many tensors of a ``state``: which names that lacks, or has too
    many, with their shapes; so many tensors are the module's ``own``."""

    missing: tuple[tuple[str, tuple[int, ...]], ...]
    unexpected: tuple[tuple[str, tuple[int, ...]], ...]
    loaded: int
    own: int
    state: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTaken(Event):
    """A module has given its state, the object ``state``."""

    state: int


class Events:
    """What happened, in order; of each kind the first ones."""

    def __init__(self) -> None:
        self._events: dict[type[Event], list[Any]] = {}
        self._sets: dict[Leaves, Leaves] = {}
        self._next = 0

    def add(self, what: type[Event], /, **facts: Any) -> None:
        """Note that something happened."""
        number, self._next = self._next, self._next + 1
        events = self._events.setdefault(what, [])
        if len(events) < MOST:
            events.append(what(number=number, **facts))

    def same(self, leaves: Leaves) -> Leaves:
        """Return the set that is equal, of those that are kept."""
        return self._sets.setdefault(leaves, leaves)

    def of(self, *kinds: type[_E]) -> Sequence[_E]:
        """Return the events of some kinds, in order; of several, up to where one of them is
        full."""
        known = [self._events.get(kind, []) for kind in kinds]
        end = min(
            (events[-1].number for events in known if len(events) >= MOST), default=self._next
        )
        several = [event for events in known for event in events if event.number <= end]
        return sorted(several, key=lambda event: event.number) if len(kinds) > 1 else known[0]

    def is_full(self, kind: type[Event]) -> bool:
        """Return whether there may have been more events of a kind."""
        return len(self._events.get(kind, ())) >= MOST

    def __iter__(self) -> Iterator[Event]:
        return iter(self.of(*self._events))


noted: Final[ContextVar[Events | None]] = ContextVar("gradstep_events", default=None)
"""Those of the program that is traced, None where nobody notes them."""
