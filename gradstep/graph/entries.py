"""Entries of nodes or edges by their ids, of which some have none: worked out where somebody looks,
kept once for all that share one, or numbers in one column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, Self, TypeVar

import numpy as np

from gradstep.graph.columns import Ints, SmallInts, int_column

T = TypeVar("T")


class Entries(Mapping[int, T], Generic[T]):
    """Entries of some ids, each found when somebody asks for it, by ``get``: an error for each that
    is not there takes longest."""

    def get(self, id: int, default: Any = None, /) -> Any:
        raise NotImplementedError

    def __getitem__(self, id: int) -> T:
        entry: T | None = self.get(id)
        if entry is None:
            raise KeyError(id)
        return entry

    def __contains__(self, id: object) -> bool:
        return isinstance(id, int) and self.get(id) is not None


class LazyEntries(Entries[T]):
    """Entries for some of the first ``length`` ids: ``make`` gives something empty for the others.
    Those of other ids can be set.

    >>> entries = LazyEntries(4, lambda id: "even" if id % 2 == 0 else "")
    >>> entries[2], entries.get(3), list(entries)
    ('even', None, [0, 2])
    """

    def __init__(self, length: int, make: Callable[[int], T | None]) -> None:
        self._length = length
        self._make = make
        self._set: dict[int, T] = {}

    def extend(self, first: int, entries: Iterable[T | None]) -> None:
        """Set the entries of ``first`` and of the ids behind it."""
        self._set.update({id: one for id, one in enumerate(entries, first) if one is not None})

    def __setitem__(self, id: int, entry: T) -> None:
        self._set[id] = entry

    def get(self, id: int, default: Any = None, /) -> Any:
        if not 0 <= id < self._length:
            return self._set.get(id, default)
        return self._make(id) or default

    def __iter__(self) -> Iterator[int]:
        yield from (id for id in range(self._length) if self._make(id))
        yield from self._set

    def __len__(self) -> int:
        return sum(1 for _ in self)


class NumberedEntries(Entries[T]):
    """Entries by ids, in one column: of each id a number that leads to its entry, -1 for none."""

    def __init__(self, numbers: SmallInts | None = None) -> None:
        self._numbers = int_column([] if numbers is None else numbers)

    def _entry(self, number: int) -> T:
        """Return the entry that a number leads to."""
        raise NotImplementedError

    def _number(self, entry: T) -> int:
        """Return the number that leads to an entry, which may be a new one."""
        raise NotImplementedError

    @classmethod
    def of(cls, entries: Mapping[int, T]) -> Self:
        """Return ``entries`` as a column."""
        if isinstance(entries, cls):
            return entries
        column = cls()
        if entries:
            numbers = np.fromiter(map(column._number, entries.values()), np.intc, len(entries))
            column.put(np.fromiter(entries, np.int64, len(entries)), numbers)
        return column

    def pad(self, length: int) -> None:
        """Make room for the ids before ``length``."""
        self._numbers.extend([-1] * (length - len(self._numbers)))

    def column(self, count: int) -> SmallInts:
        """Return the number of each of ``count`` ids, -1 of one that has none."""
        column = np.full(count, -1, np.int32)
        column[: len(self._numbers)] = self._numbers
        return column

    def put(self, ids: Ints, numbers: Ints | SmallInts) -> None:
        """Set the numbers of many ids."""
        if len(ids):
            self.pad(int(ids.max()) + 1)
            np.frombuffer(self._numbers, np.intc)[ids] = numbers

    def __setitem__(self, id: int, entry: T) -> None:
        self.pad(id + 1)
        self._numbers[id] = self._number(entry)

    def get(self, id: int, default: Any = None, /) -> Any:
        numbers = self._numbers
        number = numbers[id] if 0 <= id < len(numbers) else -1
        return default if number < 0 else self._entry(number)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, int) and 0 <= id < len(self._numbers) and self._numbers[id] >= 0

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(np.array(self._numbers) >= 0).tolist())

    def __len__(self) -> int:
        return len(self._numbers) - self._numbers.count(-1)


class SharedEntries(NumberedEntries[T]):
    """Entries by ids, of which many have the same one: each entry is kept once, in ``entries``.

    >>> shared = SharedEntries[str]()
    >>> shared.extend(1, ["a", "b", None, "a"])
    >>> shared[6] = "b"
    >>> shared[1], shared.get(3), dict(shared.mapped(str.upper))
    ('a', None, {1: 'A', 2: 'B', 4: 'A', 6: 'B'})
    """

    def __init__(self, numbers: SmallInts | None = None, entries: Iterable[T] = ()) -> None:
        super().__init__(numbers)
        self._entries = list(entries)
        self._known: dict[T, int] = {}

    def _entry(self, number: int) -> T:
        return self._entries[number]

    def _number(self, entry: T) -> int:
        if len(self._known) < len(self._entries):
            self._known.update({one: at for at, one in enumerate(self._entries)})
        number = self._known.setdefault(entry, len(self._entries))
        if number == len(self._entries):
            self._entries.append(entry)
        return number

    def extend(self, first: int, entries: Iterable[T | None]) -> None:
        """Set the entries of ``first`` and of the ids behind it, which have none so far."""
        self.pad(first)
        self._numbers.extend([-1 if one is None else self._number(one) for one in entries])

    def mapped(self, change: Callable[[T], T]) -> SharedEntries[T]:
        """Return the same with each entry changed."""
        mapped = SharedEntries[T](entries=map(change, self._entries))
        mapped._numbers = self._numbers
        return mapped


class Numbers(NumberedEntries[int]):
    """For some ids a number, not below 0.

    >>> numbers = Numbers()
    >>> numbers[3] = 0
    >>> numbers.get(1), dict(numbers), numbers.column(5)
    (None, {3: 0}, array([-1, -1, -1,  0, -1], dtype=int32))
    """

    def _entry(self, number: int) -> int:
        return number

    def _number(self, entry: int) -> int:
        return entry
