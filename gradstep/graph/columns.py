"""Columns of a graph: worked out where somebody looks, or grouped by a key.

The formula of a node takes microseconds to write down, and a screen shows forty of a million.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
D = TypeVar("D")


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


Ints = NDArray[np.int64]


def grouped(keys: Ints, values: Ints, count: int) -> list[tuple[int, ...]]:
    """Return the values of each key from 0 to ``count`` - 1, in the order in which they come.

    >>> grouped(np.array([2, 0, 2]), np.array([7, 8, 9]), 3)
    [(8,), (), (7, 9)]
    """
    flat = tuple(values[np.argsort(keys, kind="stable")].tolist())
    ends = np.cumsum(np.bincount(keys, minlength=count)).tolist()
    return [flat[start:end] for start, end in pairwise([0, *ends])]


def codes(column: Iterable[str], words: Sequence[str]) -> NDArray[np.uint8]:
    """Return the place of each entry of ``column`` among ``words``: to compare words one by one
    takes three times as long.

    >>> codes(["op", "leaf", "op"], ["leaf", "op"])
    array([1, 0, 1], dtype=uint8)
    """
    place = {word: at for at, word in enumerate(words)}
    return np.frombuffer(bytes(map(place.__getitem__, column)), np.uint8)
