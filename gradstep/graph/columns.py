"""Columns of a graph: worked out where somebody looks, or grouped by a key.

The formula of a node takes microseconds to write down, and a screen shows forty of a million.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
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


class Groups:
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

    def __getitem__(self, number: int) -> tuple[int, ...]:
        return tuple(self.flat[self._ends[number] : self._ends[number + 1]])


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
