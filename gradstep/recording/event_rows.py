"""Events of a run as rows of a table; what is read is checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, NamedTuple, get_type_hints

from gradstep.contract.events import KINDS, Event, Events, Identity, Leaves, Scheduled, Thing
from gradstep.graph.bounded_json import parsed
from gradstep.graph.model import Source
from gradstep.graph.typed_json import reader, typed, value_of
from gradstep.guest.fence import within_fence

_OWN: Final = tuple(field.name for field in fields(Event))
_BY_NAME: Final = {kind.__name__: kind for kind in KINDS}
_HINTS: Final[dict[type[Event], dict[str, Any]]] = {
    kind: {
        name: hint
        for name, hint in get_type_hints(kind, include_extras=True).items()
        if name not in _OWN
    }
    for kind in KINDS
}
"""The fields of each kind, beside those that all have."""
_VALUES: Final[dict[type[Event], Callable[[Event], tuple[Any, ...]]]] = {
    kind: attrgetter("kind", *hints) for kind, hints in _HINTS.items()
}
"""What reads them, after the kind, so that there are at least two."""


class EventRow(NamedTuple):
    """An event as a row: what happened to which thing, a number, which is of a kind and has a name;
    ``facts`` are the leaves that it has, or the number of the event that had the same, and the
    fields of its class."""

    event: int
    what: str
    thing: int | None
    kind: str
    name: str
    source: Source | None
    facts: str


class Noted(NamedTuple):
    """Where the events of a run are noted, the number of a leaf by its identity, None of one that
    no call came to, and a line as the recording names its file."""

    events: Events
    leaf: Callable[[int], int | None]
    source: Callable[[Source], Source]


class EventWriter:
    """Makes rows of events, each once. Objects go by numbers; of equal sets of leaves, a row names
    the one that had it first."""

    def __init__(self, noted: Noted) -> None:
        self._noted = noted
        self._last = -1
        self._things: dict[int, tuple[Any, int]] = {}
        self._identities: dict[int, int] = {}
        self._leaves: dict[int, int] = {}  # for good: sets are compared
        self._sets: dict[Leaves, int] = {}
        self._latest: dict[type[Event], tuple[Any, EventRow]] = {}  # with what the row was made of

    def rows(self) -> list[EventRow]:
        """Return the rows of what has happened since the last time."""
        events = self._noted.events.after(self._last)
        rows = []
        for event in events:
            self._last = event.number
            with within_fence("what happened before a call"):
                rows.append(self._row(event))
        return rows

    def _row(self, event: Event) -> EventRow:
        """Return the row of an event: nearly always that of the one before, with another number."""
        kind, noted = type(event), self._noted
        name = noted.events.name(event.thing)
        made_of = (name, id(event.thing), event.source, *_VALUES[kind](event))
        before, row = self._latest.get(kind, (None, None))
        if row is None or made_of != before:
            is_first = getattr(event, "leaves", None) not in self._sets
            row = self._made(event, name)
            if not is_first and kind is not Scheduled:  # those list leaves, or tell of more objects
                self._latest[kind] = made_of, row
        return row._replace(event=event.number)

    def _made(self, event: Event, called: str) -> EventRow:
        noted, leaves = self._noted, None
        facts: list[Any] = []
        for name, hint in _HINTS[type(event)].items():
            value = getattr(event, name)
            if hint == Leaves:
                leaves = self._set(event.number, value)
            elif hint == Identity:
                facts.append(self._identities.setdefault(value, len(self._identities)))
            else:
                facts.append(self._thing(value) if hint == Thing | None else value)
        source = None if event.source is None else noted.source(event.source)
        return EventRow(
            event.number, type(event).__name__, self._thing(event.thing), event.kind, called,
            source, json.dumps([leaves, *facts]),
        )  # fmt: skip

    def _set(self, number: int, leaves: Leaves) -> list[int] | int:
        first = self._sets.setdefault(leaves, number)
        return sorted(map(self._leaf, leaves)) if first == number else first

    def _leaf(self, identity: int) -> int:
        if identity not in self._leaves:
            number = self._noted.leaf(identity)
            self._leaves[identity] = -1 - len(self._leaves) if number is None else number
        return self._leaves[identity]

    def _thing(self, thing: Thing | None) -> int | None:
        if thing is None:
            return None
        return self._things.setdefault(id(thing), (thing, len(self._things)))[1]


class _Recorded:
    """An object of a program that has ended."""

    def __call__(self) -> None:
        return None


def events_of(rows: Iterable[EventRow], leaves: Iterable[str], most: int) -> Events:
    """Return the events of rows; ``leaves`` are the names of those of the recording, and the facts
    of a row take ``most`` bytes at most.

    Raises:
        ValueError: they are none.
    """
    events = Events()
    events.leaves = dict(enumerate(leaves))
    things: dict[int, Thing] = {}
    sets: dict[int, Leaves] = {}
    last = -1

    def thing_of(number: int | None) -> Thing | None:
        return None if number is None else things.setdefault(number, _Recorded())

    for row in rows:
        if row.what not in _BY_NAME or row.event <= last:
            raise ValueError(f"there is no event {row.what} behind {last}")
        last, kind = row.event, _BY_NAME[row.what]
        given, *others = typed(list, parsed(row.facts, most))
        read: dict[str, Any] = {}
        for field, hint in _HINTS[kind].items():
            if hint == Leaves:
                if not isinstance(given, int):
                    given, sets[last] = last, value_of(frozenset[Identity], given)
                read[field] = sets[given]
            elif hint == Thing | None:
                read[field] = thing_of(reader(int | None)(others.pop(0)))
            else:
                read[field] = value_of(hint, others.pop(0))
        if others:
            raise ValueError(f"an event has {len(others)} facts too many")
        thing = thing_of(row.thing)
        if thing is not None and row.name:
            events.call(thing, row.name)
        events.put(kind(number=last, thing=thing, kind=row.kind, source=row.source, **read))
    return events
