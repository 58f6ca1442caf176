"""Facts as rows of tables, by the fields of their records; what is read is checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import attrgetter
from types import NoneType
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from gradstep.graph.bounded_json import parsed
from gradstep.graph.model import Shape, Source
from gradstep.graph.statistics import Statistics
from gradstep.graph.typed_json import Read, reader, typed, value_of
from gradstep.recording.facts import Bits

R = TypeVar("R")
Row = tuple[Any, ...]
_LONGEST_SHAPE: Final = 4096  # characters
DESCRIBED: Final = Statistics._fields[:7]
"""What a file has of a description: not the sign of what is infinite."""
_NOTHING: Final = (None,) * len(DESCRIBED)


def number_row(value: float | None) -> float | str | None:
    """Return a number as a column has it: SQLite has no NaN, which is the text ``nan``; unknown is
    NULL."""
    return value if value == value else "nan"


def statistics_row(part: Statistics | None) -> Row:
    """Return a description in seven columns, all of them NULL where there is none."""
    if part is None:
        return _NOTHING
    size, rms, low, high, zeros, nans, infs, _ = part
    return size, number_row(rms), number_row(low), number_row(high), zeros, nans, infs


@lru_cache(maxsize=4096)
def shape_row(shape: Shape | None) -> str | None:
    """Return a shape as text, ``[2,3]``; NULL of an unknown one."""
    return None if shape is None else "[" + ",".join(map(str, shape)) + "]"


@lru_cache(maxsize=4096)
def shape_of(known: Any) -> Shape | None:
    """Return the shape of a text."""
    if known is None:
        return None
    if len(typed(str, known)) > _LONGEST_SHAPE:
        raise ValueError("no tensor has as many dimensions")
    return value_of(Shape, json.loads(known))


class Cells(NamedTuple):
    """How a kind of field lies in a row.

    Attributes:
        columns: what declares its columns, by the prefix or the name of the field.
        put: makes the one cell of a value, or all of several; None where that is the value.
        take: makes the value of the one cell, or of all.
    """

    columns: tuple[str, ...]
    put: Callable[[Any], Any] | None
    take: Read


def _signed(bits: int | None) -> int | None:
    """Return 64 bits as the column has them, which has a sign."""
    return bits if bits is None or bits < 1 << 63 else bits - (1 << 64)


def _unsigned(cell: Any) -> int | None:
    return None if cell is None else typed(int, cell) & 0xFFFFFFFFFFFFFFFF


_KINDS: Final = get_type_hints(Statistics)
_SQL: Final = {int: "INTEGER", float: "REAL", str: "TEXT"}
_CELLS: Final[dict[Any, Cells]] = {
    bool: Cells(("{} INTEGER NOT NULL",), int, bool),
    bool | None: Cells(("{} INTEGER",), None, lambda cell: None if cell is None else bool(cell)),
    Bits | None: Cells(("{} INTEGER",), _signed, _unsigned),
    Shape | None: Cells(("{} TEXT",), shape_row, shape_of),
    tuple[str, ...]: Cells(
        ("{} TEXT NOT NULL",), json.dumps, lambda cell: value_of(tuple[str, ...], parsed(cell))
    ),
    Source | None: Cells(
        ("file TEXT", "line INTEGER"), lambda at: at or (None, None), reader(Source | None)
    ),
    Statistics | None: Cells(
        tuple(f"{{}}{name} {_SQL[_KINDS[name]]}" for name in DESCRIBED),
        statistics_row, reader(Statistics | None),
    ),
}  # fmt: skip


def _cells_of(kind: Any) -> Cells:
    """Return how a kind of field lies in a row: as a rule in one cell, as it is."""
    if kind in _CELLS:
        return _CELLS[kind]
    if get_origin(kind) is Literal:
        return Cells(("{} TEXT NOT NULL",), None, reader(kind))
    if not get_args(kind):
        return Cells((f"{{}} {_SQL[kind]} NOT NULL",), None, reader(kind))
    (sql,) = [_SQL[each] for each in get_args(kind) if each is not NoneType]
    return Cells((f"{{}} {sql}",), number_row, reader(kind))


class Table(Generic[R]):
    """A table whose columns are the fields of a record; those of its ``key`` that are none stand
    before them.

    Attributes:
        name, create, columns: its name, the statement that makes it, and its columns, as a query
            names them.
    """

    def __init__(
        self,
        name: str,
        record: Callable[..., R],
        key: tuple[str, ...],
        *,
        names: Mapping[str, str] = {},
        numbered: str = "",
        left_out: str = "",
    ) -> None:
        """``names`` are those of columns that are not called as their fields. In the place of the
        field ``numbered`` stands a number that leads to it; a field may be ``left_out``."""
        hints = get_type_hints(record, include_extras=True)
        if numbered:
            hints[numbered] = int | None
        hints.pop(left_out, None)
        self.name, self._record, self._values = name, record, attrgetter(*hints)
        own = {names.get(field, field) for field in hints}
        declared = [f"{word} INTEGER NOT NULL" for word in key if word not in own]
        self._fields: list[tuple[int | slice, Callable[[Any], Any] | None, Read]] = []
        for field, kind in hints.items():
            start, cells, called = len(declared), _cells_of(kind), names.get(field, field)
            prefix = f"{called}_" if called and len(cells.columns) == len(DESCRIBED) else called
            declared += [column.format(prefix) for column in cells.columns]
            is_single = len(cells.columns) == 1
            place = start if is_single else slice(start, len(declared))
            self._fields.append((place, cells.put, cells.take))
        words = [column.split()[0] for column in declared]
        self.columns = ", ".join(f"{name}.{word}" for word in words)
        if len(key) == 1:
            declared[0] = f"{key[0]} INTEGER PRIMARY KEY"
        tail = f", PRIMARY KEY ({', '.join(key)})) WITHOUT ROWID" if len(key) > 1 else ")"
        self.create = f"CREATE TABLE {name} ({', '.join(declared)}{tail}"

    def row(self, record: R, *key: int | None) -> Row:
        """Return the row of a record, with what it has no field for in the ``key``."""
        cells: list[Any] = list(key)
        for (place, put, _), value in zip(self._fields, self._values(record), strict=True):
            if put is None:
                cells.append(value)
            elif isinstance(place, slice):
                cells += put(value)
            else:
                cells.append(put(value))
        return tuple(cells)

    def of(self, row: Row) -> R:
        """Return the record of a row."""
        return self._record(*[take(row[place]) for place, _, take in self._fields])
