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


class BatchColumn(Sequence[T], Generic[T]):
    """A column whose first ``length`` entries are made many at a time, each time they are read:
    ``make`` gets their places, which follow each other. Others can be added behind them.

    >>> squares = BatchColumn(3, lambda places: [index * index for index in places])
    >>> squares.extend([100, 121])
    >>> squares[2], squares[-1], squares[:2], squares[2:4], list(squares)
    (4, 121, [0, 1], [4, 100], [0, 1, 4, 100, 121])
    """

    BATCH: Final = 512

    def __init__(self, length: int, make: Callable[[range], list[T]]) -> None:
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
        for first in range(0, self._length, self.BATCH):
            yield from self._make(range(first, min(first + self.BATCH, self._length)))
        yield from self._appended

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        places = range(len(self))[index]
        if isinstance(places, range):
            is_made = places.step == 1 and places.stop <= self._length
            return self._make(places) if is_made else [self[place] for place in places]
        if places < self._length:
            return self._make(range(places, places + 1))[0]
        return self._appended[places - self._length]


def lazy_column(length: int, make: Callable[[int], T]) -> BatchColumn[T]:
    """Return a column whose entries ``make`` makes one by one."""
    return BatchColumn(length, lambda places: list(map(make, places)))


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
