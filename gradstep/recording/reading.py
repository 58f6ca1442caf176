"""Reads a run from a file, which anybody may have made: nothing in it is executed, and all that is
read is checked."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from gradstep.contract.events import Events
from gradstep.graph.bounded_json import allowed, parsed
from gradstep.graph.model import Graph
from gradstep.graph.serialize import from_json
from gradstep.graph.typed_json import value_of
from gradstep.guest.collector import collector_paused
from gradstep.guest.fence import tell
from gradstep.recording import encoding, schema
from gradstep.recording.errors import BadRecording, NotRecorded, RecordingError
from gradstep.recording.event_rows import events_of
from gradstep.recording.facts import (
    CallFacts,
    Flow,
    Header,
    Leaf,
    LeafFacts,
    Training,
    Warned,
)
from gradstep.recording.rows import Row, Table
from gradstep.recording.run import no_such_call

R = TypeVar("R")
_ERRORS: Final = (
    sqlite3.Error, ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError,
    RecursionError, MemoryError, zlib.error,
)  # fmt: skip
_ROW: Final = 6  # bytes that a row takes at least
_TENSOR, _LEAF = 460, 290  # bytes that each takes in Python
_EVENT: Final = 900  # bytes that an event takes in Python
_WITH_EVENTS: Final = 3  # the version from which on there are some
_LINE: Final = 100  # bytes that a line takes in Python
_CACHED: Final = 1 << 26  # characters of documents
_LONGEST: Final = encoding.CHUNK + (1 << 28)
"""Bytes of a single value that is read."""


def is_recording(path: Path) -> bool:
    """Return whether a file begins as a recording does."""
    try:
        return schema.is_head(_head(path))
    except RecordingError:
        return False


class FileRun:
    """The run in a file; see :class:`~gradstep.recording.run.Run`. It is read as it is asked for.

    Raises:
        BadRecording: the file is none, is damaged, or of a newer version; from every method.
        RecordingError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        head = _head(path)
        if not schema.is_head(head):
            kind = "a database, but " if head.startswith(schema.MAGIC) else ""
            raise BadRecording(f"{path} is {kind}not a recording")
        version = int.from_bytes(head[60:64], "big")
        if version > schema.VERSION:
            raise BadRecording(
                f"{path} is a recording of version {version}; this gradstep reads versions up to "
                f"{schema.VERSION}",
                remedy="install a newer gradstep",
            )
        self._has_events = version >= _WITH_EVENTS
        self._most = 0  # bytes in the file
        self._texts: dict[str, int] = {}  # what the sources take that were read
        self._database = self._open(path, is_logged=head[18:20] == b"\2\2")
        try:
            with self._reading():
                self._check()
        except BaseException:
            self.close()
            raise

    def _open(self, path: Path, is_logged: bool) -> sqlite3.Connection:
        """Open the database; one that is not over, where nobody may write beside it, from a
        copy."""
        log = Path(f"{path.resolve()}-wal")  # beside the file that a link leads to
        if not is_logged:
            return _connected(path, "mode=ro")
        if not log.exists():
            _ask_for(log)
            return _connected(path, "immutable=1")
        if os.access(path.absolute().parent, os.W_OK):
            return _connected(path, "mode=ro")
        self._copy = tempfile.TemporaryDirectory(prefix="gradstep-")
        copied = Path(self._copy.name) / "run.gsr"
        try:
            shutil.copyfile(path, copied)
            shutil.copyfile(log, f"{copied}-wal")
        except OSError as error:
            raise RecordingError(f"cannot copy {path} ({error.strerror})") from None
        return _connected(copied, "mode=ro")

    def _check(self) -> None:
        for pragma in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON"):
            self._database.execute(f"PRAGMA {pragma}")
        self._database.execute("BEGIN")  # whoever writes to it goes on; all that is read agrees
        size, pages = (
            int(self._database.execute(f"PRAGMA {pragma}").fetchone()[0])
            for pragma in ("page_size", "page_count")
        )
        self._most = size * pages
        statements = self._database.execute(
            "SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_autoindex%' LIMIT 100"
        ).fetchall()
        tables = schema.parts(text for (text,) in statements)
        if not self._has_events:
            tables |= schema.parts([schema.EVENTS.create])
        if tables != schema.parts(schema.TABLES.split(";")):
            raise ValueError("its tables are not those of a recording")
        self._meta = {
            str(key): parsed(value, allowed(self._most))
            for key, value in self._rows("SELECT key, value FROM meta LIMIT 100")
        }
        if "command" not in self._meta:
            raise ValueError("it has no header")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Say of whatever is wrong inside that the file is damaged."""
        try:
            yield
        except RecordingError:
            raise
        except _ERRORS as error:
            if "locked" in str(error):
                raise RecordingError(f"{self.path} is locked by another process") from None
            reason = " ".join(str(error).split())[:200]
            raise BadRecording(f"{self.path} is damaged ({reason})") from None

    def _rows(self, query: str, *given: Any, held: int = 0) -> Iterator[Row]:
        """Yield what a query finds; pages of a damaged file may lead to each other for ever, and
        rows to the same page.  Of each row, the caller keeps so many bytes ``held``."""
        room = self._most
        kept = allowed(self._most)
        for row in self._database.execute(query, given):
            kept -= held
            room -= _ROW + sum([len(value) for value in row if type(value) in (str, bytes)])
            if min(room, kept) < 0:
                raise ValueError("it has more rows than room for them")
            yield row

    def _read(self, table: Table[R], rest: str = "", *given: Any, held: int = 0) -> Iterator[R]:
        """Yield the records of a table; ``rest`` says which, and in what order."""
        query = f"SELECT {table.columns} FROM {table.name} {rest}"
        return map(table.of, self._rows(query, *given, held=held))

    def _column(self, kind: type[R], query: str) -> list[R]:
        """Return what a query finds, which has a single column."""
        with self._reading():
            return value_of(list[kind], [cell for (cell,) in self._rows(query)])  # type: ignore[valid-type]

    def close(self) -> None:
        """Close the file."""
        self._database.close()
        if self._copy is not None:
            self._copy.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # --- what is small --------------------------------------------------------------------------

    @cached_property
    def header(self) -> Header:
        with self._reading():
            return value_of(Header, self._meta)

    @property
    def is_finished(self) -> bool:
        return self._meta.get("finished") is True

    @property
    def notes(self) -> Sequence[str]:
        notes = self._column(str, "SELECT text FROM notes ORDER BY note")
        return notes if self.is_finished else [*notes, "the recording was interrupted"]

    @property
    def warnings(self) -> Sequence[Warned]:
        with self._reading():
            return list(self._read(schema.WARNINGS, "ORDER BY warning"))

    @cached_property
    def leaves(self) -> Sequence[Leaf]:
        with self._reading():
            parts = value_of(frozenset[int], self._meta.get("parts", []))
            leaves = [
                leaf._replace(is_part=leaf.number in parts)
                for leaf in self._read(schema.LEAVES, held=_LEAF)
            ]
            if [leaf.number for leaf in leaves] != [*range(len(leaves))]:
                raise ValueError("leaves are missing")
            return leaves

    @property
    def training(self) -> Training:
        with self._reading():
            flags = value_of(Training, self._meta.get("training", [[], []]))
            named = [flags.idle or (), *(group.leaves for group in flags.groups)]
            if any(leaf >= len(self.leaves) for leaves in named for leaf in leaves):
                raise ValueError("leaves are missing")
            return flags

    @cached_property
    def events(self) -> Events:
        with self._reading():
            is_there = self._has_events
            rows = self._read(schema.EVENTS, "ORDER BY event", held=_EVENT) if is_there else ()
            return events_of(rows, [leaf.name for leaf in self.leaves], allowed(self._most))

    @property
    def incomplete(self) -> Sequence[int]:
        with self._reading():
            return value_of(list[int], self._meta.get("incomplete", []))

    @cached_property
    def indices(self) -> Sequence[int]:
        return self._column(int, "SELECT call FROM calls ORDER BY call")

    def require_calls(self) -> None:
        """See that there is something to tell of.

        Raises:
            NotRecorded: no call was recorded; why, if that is known.
        """
        if not self.indices:
            where = "calls in other threads and processes are not recorded"
            raise NotRecorded(
                f"{self.path}: no call was recorded", remedy="; ".join(self.notes) or where
            )

    @cached_property
    def full(self) -> Sequence[int]:
        return self._column(int, "SELECT call FROM flows ORDER BY call")

    @cached_property
    def described(self) -> Sequence[tuple[int, bool]]:
        query = "SELECT call, is_troubled FROM calls WHERE level != 'call' ORDER BY call"
        with self._reading():
            return [(int(index), bool(troubled)) for index, troubled in self._rows(query)]

    @cached_property
    def _structures(self) -> Mapping[int, str]:
        with self._reading():
            query = "SELECT structure, key FROM structures"
            return {int(number): str(key) for number, key in self._rows(query)}

    # --- calls ----------------------------------------------------------------------------------

    def calls(self) -> Iterator[CallFacts]:
        with self._reading():
            yield from map(self._named, self._read(schema.CALLS, "ORDER BY call"))

    def call(self, index: int) -> CallFacts:
        with self._reading():
            for call in self._read(schema.CALLS, "WHERE call = ?", index):
                return self._named(call)
        raise no_such_call(self, index)

    def _named(self, call: CallFacts) -> CallFacts:
        """Return a call with the key of its structure in the place of the number of that."""
        number: Any = call.structure
        return call._replace(structure="" if number is None else self._structures[number])

    def of_leaves(self, index: int) -> Sequence[LeafFacts]:
        self.call(index)
        with self._reading():
            return list(self._read(schema.LEAF_CALLS, "WHERE call = ? ORDER BY leaf", index))

    def over_calls(self, leaf: int) -> Iterator[tuple[int, LeafFacts]]:
        query = (
            f"SELECT {schema.LEAF_CALLS.columns} FROM calls CROSS JOIN leaf_calls "
            "ON leaf_calls.call = calls.call AND leaf_calls.leaf = ? ORDER BY calls.call"
        )
        with self._reading():
            for row in self._rows(query, leaf):
                yield int(row[0]), schema.LEAF_CALLS.of(row)

    # --- graphs, and what flowed ----------------------------------------------------------------

    def graph(self, structure: str) -> Graph:
        query = "SELECT document FROM structures WHERE key = ?"
        with self._reading():
            for (document,) in self._rows(query, structure):
                return _graph_of(document, allowed(self._most))
        raise NotRecorded(f"there is no structure {structure!r}")

    def flow(self, index: int, *, steps: bool = True) -> Flow | None:
        call = self.call(index)
        with self._reading():
            for (facts,) in self._rows("SELECT facts FROM flows WHERE call = ?", index):
                return self._flow(index, facts, self.graph(call.structure), steps)
        return None

    @collector_paused()
    def _flow(self, index: int, facts: bytes, graph: Graph, steps: bool) -> Flow:
        which = "WHERE call = ? ORDER BY tensor"
        rows = [*self._read(schema.TENSORS, which, index, held=_TENSOR)]

        def array(number: int, /) -> NDArray[np.generic] | None:
            with self._reading():
                return self._array(index, rows[number])

        values = encoding.values_of(rows, array)
        nodes = self._places("node", index, len(graph), len(values))
        edges = self._places("edge", index, graph.edge_count, len(values))
        flow = encoding.flow_of(
            encoding.unpacked(facts, allowed(self._most)), values, nodes, edges, steps
        )
        _require_places(flow, graph)
        return flow

    def _places(self, kind: str, index: int, length: int, count: int) -> dict[int, int]:
        places = {}
        query = f"SELECT {kind}, tensor FROM {kind}_tensors WHERE call = ? ORDER BY {kind}"
        for place, tensor in self._rows(query, index):
            if not (0 <= place < length and 0 <= tensor < count):
                raise ValueError(f"there is no {kind} {place}, or no tensor {tensor}")
            places[place] = tensor
        return places

    def _array(self, index: int, row: encoding.TensorRow) -> NDArray[np.generic] | None:
        if row.stored is None:
            return None
        query = "SELECT data FROM chunks WHERE call = ? AND tensor = ? ORDER BY chunk"
        data = bytearray()
        for (chunk,) in self._rows(query, index, row.tensor):
            data += chunk
            if len(data) > self._most:
                raise ValueError("a tensor is longer than the file")
        return encoding.array_of(data, row.stored, row.shape)

    @property
    def files(self) -> Sequence[str]:
        return self._column(str, "SELECT file FROM sources ORDER BY file")

    def source(self, file: str) -> str | None:
        with self._reading():
            for (text,) in self._rows("SELECT text FROM sources WHERE file = ?", file):
                known = encoding.text_of(text, allowed(self._most))
                self._texts[file] = len(known) * 4 + known.count("\n") * _LINE
                if sum(self._texts.values()) > allowed(self._most):
                    raise ValueError("a text has more lines than a file of this size can have")
                return known
        return None


_graphs: Final[dict[bytes, tuple[int, Graph]]] = {}
"""Graphs that were read last, with the lengths of their documents."""


def _graph_of(document: bytes, most: int) -> Graph:
    """Return a graph, which may take ``most`` bytes while it is read; runs that are compared have
    many in common."""
    if document in _graphs:
        _graphs[document] = _graphs.pop(document)
    else:
        text = encoding.text_of(document, most)
        _graphs[document] = len(text), from_json(text, most)
    while len(_graphs) > 8 or (len(_graphs) > 1 and sum(n for n, _ in _graphs.values()) > _CACHED):
        del _graphs[next(iter(_graphs))]
    return _graphs[document][1]


def _require_places(flow: Flow, graph: Graph) -> None:
    """See that all that a flow tells is of nodes and edges of its graph."""
    nodes = (flow.undefined, flow.details, flow.hooks)
    edges = (flow.edge_undefined, flow.edge_hooks)
    for known, length in ((nodes, len(graph)), (edges, graph.edge_count)):
        if any(not 0 <= id < length for ids in known for id in ids):
            raise ValueError("it names a node or an edge that is not in its graph")


def _head(path: Path) -> bytes:
    """Return the first bytes of a file.

    Raises:
        RecordingError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(schema.HEAD)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RecordingError(f"cannot read {path} ({reason})") from None


@lru_cache(maxsize=64)
def _ask_for(log: Path) -> None:
    """Tell the user, once, which file is missing."""
    tell(
        f"the recording was interrupted, and {log.name} is not beside it; fetch that file, too: "
        f"it may have the last calls"
    )


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    """Open a database for reading."""
    try:
        database = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?{mode}", uri=True, isolation_level=None,
            check_same_thread=False, timeout=10,
        )  # fmt: skip
    except sqlite3.Error as error:
        raise BadRecording(f"{path} cannot be opened ({error})") from None
    with suppress(AttributeError):  # SQLite's own bound is 1 GB
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    return database
