"""Columns of a graph: worked out where somebody looks, or grouped by a key.

The formula of a node takes microseconds to write down, and a screen shows forty of a million.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
D = TypeVar("D")
Ints = NDArray[np.int64]
SmallInts = NDArray[np.int32]
"""Of nodes or edges, of which there are no more: a graph may have many such columns."""


def int_column(numbers: Sequence[int] | NDArray[np.signedinteger[Any]]) -> array[int]:
    """Return small numbers as a column, which takes an eighth of the memory of a list."""
    return array("i", np.asarray(numbers, np.intc).tobytes())


class LazyColumn(Sequence[T], Generic[T]):
    """A column whose first ``length`` entries are made by ``make`` each time they are read;
    others can be added behind them.

    >>> squares = LazyColumn(3, lambda index: index * index)
    >>> squares.append(100)
    >>> squares.extend([121, 144])
    >>> list(squares)
    [0, 1, 4, 100, 121, 144]
    """

    def __init__(self, length: int, make: Callable[[int], T]) -> None:
        self._length = length
        self._make = make
        self._appended: list[T] = []

    def append(self, entry: T) -> None:
        self._appended.append(entry)

    def extend(self, entries: Iterable[T]) -> None:
        self._appended.extend(entries)

    def __len__(self) -> int:
        return self._length + len(self._appended)

    def __iter__(self) -> Iterator[T]:
        yield from map(self._make, range(self._length))
        yield from self._appended

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            places = range(*index.indices(len(self)))
            if not self._appended:
                return list(map(self._make, places))
            return [self[place] for place in places]
        if 0 <= index < self._length:  # as nearly always
            return self._make(index)
        place = range(len(self))[index]
        return self._make(place) if place < self._length else self._appended[place - self._length]


class BatchColumn(Sequence[T], Generic[T]):
    """A column whose ``length`` entries are made many at a time, each time they are read: ``make``
    gets their places, which follow each other.

    >>> squares = BatchColumn(3, lambda places: [index * index for index in places])
    >>> squares[2], squares[:2], list(squares)
    (4, [0, 1], [0, 1, 4])
    """

    BATCH: Final = 512

    def __init__(self, length: int, make: Callable[[range], list[T]]) -> None:
        self._places = range(length)
        self._make = make

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[T]:
        for first in range(0, len(self), self.BATCH):
            yield from self._make(self._places[first : first + self.BATCH])

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            places = self._places[index]
            return self._make(places) if places.step == 1 else [self[place] for place in places]
        place = self._places[index]
        return self._make(range(place, place + 1))[0]


class LazyEntries(Mapping[int, T], Generic[T]):
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

    def __getitem__(self, id: int) -> T:
        if not 0 <= id < self._length:
            return self._set[id]
        item = self._make(id)
        if not item:
            raise KeyError(id)
        return item

    @overload
    def get(self, id: int, default: None = None, /) -> T | None: ...

    @overload
    def get(self, id: int, default: T | D, /) -> T | D: ...

    def get(self, id: int, default: Any = None, /) -> Any:  # an error for each takes longest
        if not 0 <= id < self._length:
            return self._set.get(id, default)
        return self._make(id) or default

    def __contains__(self, id: object) -> bool:
        return isinstance(id, int) and self.get(id) is not None

    def __iter__(self) -> Iterator[int]:
        yield from (id for id in range(self._length) if self._make(id))
        yield from self._set

    def __len__(self) -> int:
        return sum(1 for _ in self)


class SharedEntries(Mapping[int, T], Generic[T]):
    """Entries by ids, of which many have the same one: each entry is kept once, and of each id the
    place of its own among ``entries``, -1 for none.

    >>> entries = SharedEntries[str]()
    >>> entries.extend(1, ["a", "b", None, "a"])
    >>> entries[6] = "b"
    >>> entries[1], entries.get(3), dict(entries.mapped(str.upper))
    ('a', None, {1: 'A', 2: 'B', 4: 'A', 6: 'B'})
    """

    def __init__(self, places: SmallInts | None = None, entries: Sequence[T] = ()) -> None:
        self._places = int_column([] if places is None else places)
        self._entries = entries
        self._place_of: dict[T, int] = {}

    @classmethod
    def of(cls, entries: Mapping[int, T]) -> SharedEntries[T]:
        """Return ``entries`` as shared ones."""
        if isinstance(entries, cls):
            return entries
        shared = cls()
        for id, entry in entries.items():
            shared[id] = entry
        return shared

    def extend(self, first: int, entries: Iterable[T | None]) -> None:
        """Set the entries of ``first`` and of the ids behind it, which have none so far."""
        self._pad(first)
        self._places.extend([-1 if one is None else self._place(one) for one in entries])

    def _pad(self, length: int) -> None:
        self._places.extend([-1] * (length - len(self._places)))

    def _place(self, entry: T) -> int:
        known, count = self._place_of, len(self._entries)
        if not isinstance(self._entries, list):
            self._entries = list(self._entries)
        if len(known) < count:
            known.update({one: at for at, one in enumerate(self._entries)})
        place = known.setdefault(entry, count)
        if place == count:
            self._entries.append(entry)
        return place

    def mapped(self, change: Callable[[T], T]) -> SharedEntries[T]:
        """Return the same with each entry changed."""
        mapped = SharedEntries[T](entries=list(map(change, self._entries)))
        mapped._places = self._places
        return mapped

    def __setitem__(self, id: int, entry: T) -> None:
        self._pad(id + 1)
        self._places[id] = self._place(entry)

    def __getitem__(self, id: int) -> T:
        place = self._places[id] if 0 <= id < len(self._places) else -1
        if place < 0:
            raise KeyError(id)
        return self._entries[place]

    @overload
    def get(self, id: int, default: None = None, /) -> T | None: ...

    @overload
    def get(self, id: int, default: T | D, /) -> T | D: ...

    def get(self, id: int, default: Any = None, /) -> Any:  # an error for each takes longest
        place = self._places[id] if 0 <= id < len(self._places) else -1
        return default if place < 0 else self._entries[place]

    def __contains__(self, id: object) -> bool:
        return isinstance(id, int) and 0 <= id < len(self._places) and self._places[id] >= 0

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(np.array(self._places) >= 0).tolist())

    def __len__(self) -> int:
        return len(self._places) - self._places.count(-1)


class Partners(Mapping[int, int]):
    """For some ids another one.

    >>> partners = Partners()
    >>> partners[3] = 0
    >>> partners.get(1), dict(partners), partners.column(5)
    (None, {3: 0}, array([-1, -1, -1,  0, -1], dtype=int32))
    """

    def __init__(self) -> None:
        self._others = array("i")

    @classmethod
    def of(cls, partners: Mapping[int, int]) -> Partners:
        """Return ``partners`` as one column."""
        if isinstance(partners, cls):
            return partners
        column = cls()
        for id, other in partners.items():
            column[id] = other
        return column

    def column(self, count: int) -> SmallInts:
        """Return the partner of each of ``count`` ids, -1 of one that has none."""
        column = np.full(count, -1, np.int32)
        column[: len(self._others)] = self._others
        return column

    def put(self, ids: Ints, others: Ints) -> None:
        """Set the partners of many ids."""
        if len(ids):
            self._pad(int(ids.max()) + 1)
            np.frombuffer(self._others, np.intc)[ids] = others

    def _pad(self, length: int) -> None:
        self._others.extend([-1] * (length - len(self._others)))

    def __setitem__(self, id: int, other: int) -> None:
        self._pad(id + 1)
        self._others[id] = other

    def __getitem__(self, id: int) -> int:
        other = self._others[id] if 0 <= id < len(self._others) else -1
        if other < 0:
            raise KeyError(id)
        return other

    def __contains__(self, id: object) -> bool:
        return isinstance(id, int) and 0 <= id < len(self._others) and self._others[id] >= 0

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(np.array(self._others) >= 0).tolist())

    def __len__(self) -> int:
        return len(self._others) - self._others.count(-1)


class InOrder(Mapping[int, int]):
    """The order of nodes whose ids are in order: of each of the first ``length``, its own id.

    >>> orders = InOrder(2)
    >>> orders[5] = 0
    >>> orders[1], orders.get(3), dict(orders)
    (1, None, {0: 0, 1: 1, 5: 0})
    """

    def __init__(self, length: int) -> None:
        self._ids = range(length)
        self._set: dict[int, int] = {}

    def __setitem__(self, id: int, order: int) -> None:
        self._set[id] = order

    def __getitem__(self, id: int) -> int:
        return id if id in self._ids else self._set[id]

    @overload
    def get(self, id: int, default: None = None, /) -> int | None: ...

    @overload
    def get(self, id: int, default: int | D, /) -> int | D: ...

    def get(self, id: int, default: Any = None, /) -> Any:
        return id if id in self._ids else self._set.get(id, default)

    def __contains__(self, id: object) -> bool:
        return id in self._ids or id in self._set

    def __iter__(self) -> Iterator[int]:
        yield from self._ids
        yield from self._set

    def __len__(self) -> int:
        return len(self._ids) + len(self._set)


class Groups(Sequence[tuple[int, ...]]):
    """Small numbers in groups, each a tuple that is made when it is read: of a million groups these
    would take ten times the memory.

    >>> groups = Groups.by_key(np.array([2, 0, 2]), np.array([7, 8, 9]), 3)
    >>> list(groups), groups[2], groups.sizes
    ([(8,), (), (7, 9)], (7, 9), array([1, 0, 2]))
    """

    def __init__(self, flat: array[int], ends: array[int]) -> None:
        self.flat = flat
        self._ends = ends  # with a 0 before the first group

    @classmethod
    def by_key(cls, keys: Ints, values: Ints, count: int) -> Groups:
        """Return the values of each key from 0 to ``count`` - 1, in the order in which they
        come."""
        flat = int_column(values[np.argsort(keys, kind="stable")])
        ends = np.cumsum(np.bincount(keys, minlength=count))
        return cls(flat, int_column(np.append(0, ends)))

    @property
    def sizes(self) -> Ints:
        """How many numbers are in each group."""
        ends = np.array(self._ends, np.int64)
        return ends[1:] - ends[:-1]

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        flat = self.flat
        return (tuple(flat[start:end]) for start, end in pairwise(self._ends))

    @overload
    def __getitem__(self, at: int) -> tuple[int, ...]: ...

    @overload
    def __getitem__(self, at: slice) -> list[tuple[int, ...]]: ...

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        place = range(len(self))[at]
        return tuple(self.flat[self._ends[place] : self._ends[place + 1]])


def grouped(keys: Ints, values: Ints, count: int) -> list[tuple[int, ...]]:
    """Return the same groups as a list.

    >>> grouped(np.array([2, 0, 2]), np.array([7, 8, 9]), 3)
    [(8,), (), (7, 9)]
    """
    return list(Groups.by_key(keys, values, count))


def codes(column: Iterable[str], words: Sequence[str]) -> NDArray[np.uint8]:
    """Return the place of each entry of ``column`` among ``words``: to compare words one by one
    takes three times as long.

    >>> codes(["op", "leaf", "op"], ["leaf", "op"])
    array([1, 0, 1], dtype=uint8)
    """
    place = {word: at for at, word in enumerate(words)}
    return np.frombuffer(bytes(map(place.__getitem__, column)), np.uint8)
