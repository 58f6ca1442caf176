"""Facts as rows of tables and as lists, by the fields of their records; what is read is checked."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from operator import attrgetter
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)  # fmt: skip

from gradstep.graph.bounded_json import parsed
from gradstep.graph.model import Shape, Source
from gradstep.graph.statistics import Statistics
from gradstep.recording.facts import Bits, Value

R = TypeVar("R")
Row = tuple[Any, ...]
_LONGEST_SHAPE: Final = 4096  # characters
DESCRIBED: Final = Statistics._fields[:7]
"""What a file has of a description: not the sign of what is infinite."""
_NOTHING: Final = (None,) * len(DESCRIBED)


# --- values that are read ------------------------------------------------------------------------


def typed(value: Any, kind: type | tuple[type, ...]) -> Any:
    """Return ``value``, of this kind."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"a {type(value).__name__} stands where none is meant to be")
    return value


def as_text(value: Any) -> str:
    """Return a text."""
    return cast("str", typed(value, str))


def as_list(value: Any) -> list[Any]:
    """Return a list."""
    return cast("list[Any]", typed(value, list))


def as_count(value: Any) -> int:
    """Return a number that counts something."""
    number: int = typed(value, int)
    if number < 0:
        raise ValueError(f"{number} stands where something is counted")
    return number


def number_row(value: float | None) -> float | str | None:
    """Return a number as a column has it: SQLite has no NaN, which is the text ``nan``; unknown is
    NULL."""
    return value if value == value else "nan"


def number_of(value: Any) -> float | None:
    """Return the number of a column."""
    if value == "nan":
        return math.nan
    return None if value is None else float(typed(value, (int, float)))


def statistics_row(part: Statistics | None) -> Row:
    """Return a description in seven columns, all of them NULL where there is none."""
    if part is None:
        return _NOTHING
    size, rms, low, high, zeros, nans, infs, _ = part
    return size, number_row(rms), number_row(low), number_row(high), zeros, nans, infs


def statistics_of(row: Sequence[Any]) -> Statistics | None:
    """Return the description in seven columns."""
    if row[0] is None:
        return None
    size, *others, zeros, nans, infs = row
    rms, low, high = (math.nan if (n := number_of(other)) is None else n for other in others)
    return Statistics(
        as_count(size), rms, low, high, as_count(zeros), as_count(nans), as_count(infs)
    )


@lru_cache(maxsize=4096)
def shape_row(shape: Shape | None) -> str | None:
    """Return a shape as text, ``[2,3]``; NULL of an unknown one."""
    return None if shape is None else "[" + ",".join(map(str, shape)) + "]"


@lru_cache(maxsize=4096)
def shape_of(known: Any) -> Shape | None:
    """Return the shape of a text."""
    if known is None:
        return None
    if len(as_text(known)) > _LONGEST_SHAPE:
        raise ValueError("no tensor has as many dimensions")
    return tuple([as_count(number) for number in as_list(json.loads(known))])


def source_of(row: Sequence[Any]) -> Source | None:
    """Return the line that two columns tell of."""
    file, line = row
    return None if file is None else Source(as_text(file), as_count(line))


# --- rows of the tables ---------------------------------------------------------------------------


class Cells(NamedTuple):
    """How a kind of field lies in a row.

    Attributes:
        columns: what declares its columns, by the prefix or the name of the field.
        put: makes the one cell of a value, or all of several; None where that is the value.
        take: makes the value of the one cell, or of all.
    """

    columns: tuple[str, ...]
    put: Callable[[Any], Any] | None
    take: Callable[[Any], Any]


def _known(take: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda cell: None if cell is None else take(cell)


def _one_of(words: tuple[str, ...]) -> Callable[[Any], str]:
    def take(cell: Any) -> str:
        if cell not in words:
            raise ValueError(f"there is no kind {cell!r}; there are {', '.join(words)}")
        return cast("str", cell)

    return take


def _signed(bits: int | None) -> int | None:
    """Return 64 bits as the column has them, which has a sign."""
    return bits if bits is None or bits < 1 << 63 else bits - (1 << 64)


_TYPES: Final = ("INTEGER", "REAL", "REAL", "REAL", "INTEGER", "INTEGER", "INTEGER")
_CELLS: Final[dict[Any, Cells]] = {
    int: Cells(("{} INTEGER NOT NULL",), None, as_count),
    int | None: Cells(("{} INTEGER",), None, _known(as_count)),
    Bits | None: Cells(
        ("{} INTEGER",), _signed, _known(lambda cell: typed(cell, int) & 0xFFFFFFFFFFFFFFFF)
    ),
    float: Cells(("{} REAL NOT NULL",), None, lambda cell: number_of(cell) or 0.0),
    float | None: Cells(("{} REAL",), number_row, number_of),
    str: Cells(("{} TEXT NOT NULL",), None, as_text),
    str | None: Cells(("{} TEXT",), None, _known(as_text)),
    bool: Cells(("{} INTEGER NOT NULL",), int, bool),
    bool | None: Cells(("{} INTEGER",), None, _known(bool)),
    Shape | None: Cells(("{} TEXT",), shape_row, shape_of),
    tuple[str, ...]: Cells(
        ("{} TEXT NOT NULL",), json.dumps, lambda cell: tuple(map(as_text, as_list(parsed(cell))))
    ),
    Source | None: Cells(("file TEXT", "line INTEGER"), lambda at: at or (None, None), source_of),
    Statistics | None: Cells(
        tuple(f"{{}}{name} {kind}" for name, kind in zip(DESCRIBED, _TYPES, strict=True)),
        statistics_row, statistics_of,
    ),
}  # fmt: skip


class Table(Generic[R]):
    """A table whose columns are the fields of a record, behind those of ``key``; of a record that
    has a field for the key, that is the first one.

    Attributes:
        create, insert, columns: the statements that make the table and add a row, and its columns,
            as a query names them.
    """

    def __init__(
        self,
        name: str,
        record: Callable[..., R],
        key: str = "",
        *,
        names: Mapping[str, str] = {},
        numbered: str = "",
        left_out: str = "",
    ) -> None:
        """``names`` are those of columns that are not called as their fields. In the place of the
        field ``numbered`` stands a number that leads to it; the last field may be ``left_out``."""
        hints = get_type_hints(record, include_extras=True)
        if numbered:
            hints[numbered] = int | None
        fields = [field for field in hints if field != left_out]
        self._record = record
        self._values = attrgetter(*fields)
        declared = [key] if key else []
        self._takes: list[tuple[int | slice, Callable[[Any], Any]]] = []
        self._puts: list[tuple[bool, Callable[[Any], Any] | None]] = []
        for field in fields:
            called, start = names.get(field, field), len(declared)
            columns, put, take = _cells_of(hints[field])
            declared += columns_of(called, hints[field]).split(", ")
            several = len(columns) > 1
            self._takes.append((slice(start, len(declared)) if several else start, take))
            self._puts.append((several, put))
        if not key:
            declared[0] = declared[0].replace("INTEGER NOT NULL", "INTEGER PRIMARY KEY")
        words = [column.split()[0] for column in declared]
        self.columns = ", ".join(f"{name}.{word}" for word in words)
        self.insert = (
            f"INSERT OR REPLACE INTO {name} ({', '.join(words)}) "
            f"VALUES ({', '.join('?' * len(words))})"
        )
        tail = f", PRIMARY KEY ({', '.join(words[:2])})) WITHOUT ROWID" if key else ")"
        self.create = f"CREATE TABLE {name} ({', '.join(declared)}{tail}"

    def row(self, record: R, *key: int) -> Row:
        """Return the row of a record, with its ``key`` where it has no field for that."""
        cells: list[Any] = list(key)
        for (several, put), value in zip(self._puts, self._values(record), strict=True):
            if several:
                cells += put(value)  # type: ignore[misc]
            else:
                cells.append(value if put is None else put(value))
        return tuple(cells)

    def of(self, row: Row) -> R:
        """Return the record of a row."""
        return self._record(*[take(row[place]) for place, take in self._takes])


def columns_of(called: str, kind: Any) -> str:
    """Return what declares the columns of a field of a kind; a description has one for each of its
    numbers."""
    columns = _cells_of(kind).columns
    prefix = f"{called}_" if called and len(columns) == len(DESCRIBED) else called
    return ", ".join(column.format(prefix) for column in columns)


def _cells_of(kind: Any) -> Cells:
    if get_origin(kind) is Literal:
        return Cells(("{} TEXT NOT NULL",), None, _one_of(get_args(kind)))
    return _CELLS[kind]


# --- lists ----------------------------------------------------------------------------------------

Read = Callable[[Any, int], Any]
"""Makes a value of what was read, in a call with so many values."""


def value_of(kind: Any, known: Any) -> Any:
    """Return the value of a kind that ``json.dumps`` has written."""
    return _reader(kind)(known, 0)


def record_of(kind: type[R], known: Any, values: int = 0) -> R:
    """Return the record whose fields a list has, as ``json.dumps`` writes a named tuple; it may
    lack the last one, if that has a default."""
    read: Read = _reader(kind)  # type: ignore[arg-type]  # classes are hashable
    return cast("R", read(known, values))


@cache
def _reader(kind: Any) -> Read:
    origin, inside = get_origin(kind), get_args(kind)
    if kind == Value:
        return _value_below
    if origin is Literal:
        one_of = _one_of(inside)
        return lambda known, values: one_of(known)
    if origin in (Union, UnionType):
        (read,) = [_reader(each) for each in inside if each is not NoneType]
        return lambda known, values: None if known is None else read(known, values)
    if origin is tuple:
        read = _reader(inside[0])
        return lambda known, values: tuple([read(one, values) for one in as_list(known)])
    if origin is Annotated:
        return lambda known, values: typed(known, int)
    if origin is not None:  # a mapping of names to numbers
        return lambda known, values: {
            as_text(name): float(typed(number, (int, float))) for name, number in known.items()
        }
    if hasattr(kind, "_fields"):
        return _record_reader(kind)
    plain: dict[type, Callable[[Any], Any]] = {
        int: as_count, str: as_text, bool: bool,
        float: lambda cell: float(typed(cell, (int, float))),
    }  # fmt: skip
    return lambda known, values: plain[kind](known)


def _record_reader(kind: Any) -> Read:
    reads = [_reader(each) for each in get_type_hints(kind, include_extras=True).values()]
    least = len(reads) - bool(kind._field_defaults)

    def read(known: Any, values: int) -> Any:
        if not least <= len(as_list(known)) <= len(reads):
            raise ValueError(f"a list of {len(known)} is no {kind.__name__}")
        return kind(*[each(one, values) for each, one in zip(reads, known, strict=False)])

    return read


def _value_below(known: Any, values: int) -> int:
    number: int = typed(known, int)
    if not -1 <= number < values:
        raise ValueError(f"there is no tensor {number}")
    return number
