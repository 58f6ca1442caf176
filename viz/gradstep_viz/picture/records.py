"""Many records of one kind, kept as columns.

A picture of a large graph has a hundred thousand boxes and lines.  As objects they would cost
Python's garbage collector more than all that is done with them; so a record is made when it is
looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, Generic, TypeVar, cast, overload

from gradstep.graph.columns import BatchColumn

R = TypeVar("R", bound=tuple[Any, ...])

MANY = 4000
"""Of more records than this, texts that are read once at most are made when they are read."""


def read_late(count: int, make: Callable[[range], list[str]]) -> Sequence[str]:
    """Return a column of texts; of many records one that makes them when they are read."""
    return BatchColumn(count, make) if count > MANY else make(range(count))


class Records(Sequence[R], Generic[R]):
    """A sequence of named tuples of the class ``kind``; ``columns`` are its fields.

    >>> from typing import NamedTuple
    >>> class Point(NamedTuple):
    ...     x: int
    ...     y: int
    >>> points = Records(Point, x=[1, 2, 3], y=[10, 20, 30])
    >>> points[1], len(points), points.column("y")
    (Point(x=2, y=20), 3, [10, 20, 30])
    """

    __slots__ = ("_columns", "_kind")

    def __init__(self, kind: Callable[..., R], /, **columns: Sequence[Any]) -> None:
        self._kind = cast(type[Any], kind)
        self._columns = [columns[name] for name in self._kind._fields]

    @classmethod
    def of(cls, kind: Callable[..., R], records: Iterable[Sequence[Any]]) -> Records[R]:
        """Take records, or plain tuples of their fields, apart.

        >>> from typing import NamedTuple
        >>> class Point(NamedTuple):
        ...     x: int
        ...     y: int
        >>> list(Records.of(Point, [(1, 10)]))
        [Point(x=1, y=10)]
        """
        fields = cast(type[Any], kind)._fields
        columns = list(zip(*records, strict=True)) or [()] * len(fields)
        return cls(kind, **dict(zip(fields, columns, strict=True)))

    def column(self, name: str) -> Sequence[Any]:
        """Return this field of all records."""
        entries: Sequence[Any] = self._columns[self._kind._fields.index(name)]
        return entries

    def rows(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Yield these fields of each record."""
        return zip(*map(self.column, names), strict=True)

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[R]:
        # without calling Python code for each: 0.1 us
        return map(tuple.__new__, repeat(self._kind), zip(*self._columns, strict=True))

    @overload
    def __getitem__(self, index: int) -> R: ...

    @overload
    def __getitem__(self, index: slice) -> list[R]: ...

    def __getitem__(self, index: int | slice) -> R | list[R]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        record: R = self._kind._make([column[index] for column in self._columns])
        return record

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Records) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as lists, whose columns are
