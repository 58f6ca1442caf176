"""What the objects of a program did between its backward passes: optimizers, schedulers, modules,
and what clips gradients.

Whoever watches a program notes it; whoever explains a run, or reads its recording, reads it. Of
objects there are weak references, and of tensors only identities.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Annotated, Any, Final, NamedTuple, TypeVar

from gradstep.contract.registry import EVENTS, load
from gradstep.contract.tracing import following
from gradstep.graph.model import Source
from gradstep.guest.fence import fenced_context

_FIRST: Final = 4
MOST: Final = 20_000
"""Events of a kind that are remembered, the first ones."""
_E = TypeVar("_E", bound="Event")
Leaves = frozenset[int]
"""Tensors, by identity; of a recording, by their numbers there, negative where it lacks them."""
Thing = Callable[[], Any]
"""A weak reference to an object; of a recording, what stands for it, and returns None."""
Identity = Annotated[int, "identity"]
"""The identity of an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened: to which object, and on which line of the program.

    ``number`` is its place among all events.
    """

    number: int
    thing: Thing | None = None
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

    optimizer: Thing | None
    place: int
    given: float | None
    rates: tuple[float, ...]
    length: int | None
    highest: float
    is_inner: bool


class Entry(NamedTuple):
    """A tensor of a state."""

    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded(Event):
    """A module has ``loaded`` so many tensors of a ``state``: which names that lacks, or has too
    many, with their shapes; so many tensors are the module's ``own``."""

    missing: tuple[Entry, ...]
    unexpected: tuple[Entry, ...]
    loaded: int
    own: int
    state: Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored(Event):
    """An optimizer has loaded a state: the rates of its groups ``before``, and now."""

    before: tuple[float, ...]
    rates: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTaken(Event):
    """A module has given its state, the object ``state``."""

    state: Identity


class Extent(NamedTuple):
    """The shape of a tensor, and how far its numbers go."""

    shape: tuple[int, ...]
    smallest: float
    largest: float
    rms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Called(Event):
    """A module is called, in training mode or not, with gradients or not: the first of its
    arguments, None where that is not of floating point. Of calls that are alike in this the first
    ones are noted, and then ever fewer."""

    is_training: bool
    has_gradients: bool
    given: Extent | None


KINDS: Final[tuple[type[Event], ...]] = (
    Passed, Stepped, Cleared, Clipped, Scheduled, Loaded, Restored, StateTaken, Called
)  # fmt: skip


class Events:
    """What happened, in order; of each kind the first ones."""

    def __init__(self) -> None:
        self._events: dict[type[Event], list[Any]] = {}
        self._sets: dict[Leaves, Leaves] = {}
        self._next = 0
        self._names: dict[int, tuple[Thing, str]] = {}
        self._counts: Counter[Hashable] = Counter()
        self.leaves: dict[int, str] = {}
        """What the program calls leaves, by identity."""

    def add(self, what: type[Event], /, **facts: Any) -> None:
        """Note that something happened."""
        self.put(what(number=self._next, **facts))

    def put(self, event: Event) -> None:
        """Take an event whose number is the next one, or a later one."""
        self._next = event.number + 1
        events = self._events.setdefault(type(event), [])
        if len(events) < MOST:
            events.append(event)

    def is_one_of_few(self, key: Hashable) -> bool:
        """Return whether what has this key is to be noted: the first ones, and then those whose
        number is a power of two."""
        self._counts[key] = count = self._counts[key] + 1
        return count <= _FIRST or not count & (count - 1)

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
        return sorted(several, key=_number) if len(kinds) > 1 else known[0]

    def after(self, number: int) -> list[Event]:
        """Return the events behind number ``number``, in order."""
        return sorted(
            (
                event
                for events in self._events.values()
                for event in events[bisect_right(events, number, key=_number) :]
            ),
            key=_number,
        )

    def is_full(self, kind: type[Event]) -> bool:
        """Return whether there may have been more events of a kind."""
        return len(self._events.get(kind, ())) >= MOST

    def call(self, thing: Thing, name: str) -> None:
        """Note what the program calls an object."""
        self._names[id(thing)] = thing, name

    def name(self, thing: Thing | None, otherwise: str = "") -> str:
        """Return what the program calls an object."""
        known, name = self._names.get(id(thing), (None, otherwise))
        return name if known is thing else otherwise

    def __iter__(self) -> Iterator[Event]:
        return iter(self.after(-1))

    def __bool__(self) -> bool:
        return bool(self._next)


_number: Final = attrgetter("number")

noted: Final[ContextVar[Events | None]] = ContextVar("gradstep_events", default=None)
"""Those of the program that is watched, None where nobody notes them."""


@contextmanager
def noting_events() -> Iterator[Events]:
    """Within it, what this thread's program does with the objects of libraries is noted in what it
    yields, as long as nobody else begins to note that."""
    events = Events()
    token = noted.set(events)
    what = "what optimizers, schedulers and modules do"
    with ExitStack() as stack:

        def begin(home: str) -> None:
            stack.enter_context(fenced_context(what, load(home)(events)))

        for library, home in EVENTS.items():
            stack.enter_context(following(library, partial(begin, home), freezes=False))
        try:
            yield events
        finally:
            if noted.get() is events:
                noted.reset(token)
