"""Writes a run to a file as it is watched.

While it is written, the database keeps what is new in two files beside it (``-wal`` and ``-shm``):
whatever becomes of the process, finished calls stay, but for those of the last tenth of a second of
which only the loss is kept. A recording that is ended is one file.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import Any, Final

from gradstep.graph.statistics import format_bytes
from gradstep.guest.fence import tell
from gradstep.recording import encoding, schema
from gradstep.recording.claiming import Claimed, claim, place_at, said
from gradstep.recording.errors import RecordingError
from gradstep.recording.event_rows import EventWriter, Noted
from gradstep.recording.facts import (
    CallFacts,
    Flow,
    Header,
    Leaf,
    LeafFacts,
    Training,
    Warned,
)
from gradstep.recording.rows import Row
from gradstep.recording.run import Structure
from gradstep.text import plural

MAX_SIZE: Final = 2 << 30
"""Bytes of a recording, by default."""
_PAUSE: Final = 0.1
"""Seconds for which calls wait to be written that are not kept in full."""
_ROWS: Final = 1_000
"""Leaves of calls that wait, at most: about 60 KB. A file does not become smaller again."""


class FileSink:
    """Writes a run to ``path``, in two transactions for each call; calls of which only the loss is
    kept wait for each other, a tenth of a second at most. See
    :class:`~gradstep.recording.run.Sink`.

    Where the file cannot be written, or not any more, the recording ends with a message, and the
    program goes on. Beyond ``max_size`` bytes, older calls are thinned: of ever more of them only
    the line, the loss and the time are kept; never of the first, the newest, and those with
    something wrong.

    Args:
        path: the file; a recording that is there gets another name, see
            :func:`~gradstep.recording.claiming.claim`.
        waits: keep all in memory, and touch no file, until the first call is told.

    Attributes:
        path: the file that is written, which may have another name.
        file: where that is, None as long as there is none.
        has_failed: it cannot be written, or not any more.

    Raises:
        RecordingError: there can be no recording at ``path``, as where there is another file.
    """

    def __init__(
        self, path: Path, header: Header, max_size: int = MAX_SIZE, *, waits: bool = False
    ) -> None:
        self._place = place_at(path)  # now: the program may change the directory
        self.path = path
        self.file: Path | None = None
        self.has_failed = False
        self._waits = waits
        self._max_size = max_size
        self._claimed: Claimed | None = None
        self._database: sqlite3.Connection | None = None
        self._structures: dict[str, int] = {}
        self._recorded: deque[int] = deque()  # calls that can be thinned, the oldest first
        self._kept: deque[int] = deque()  # of these, those that this round has left
        self._parts: list[int] = []  # leaves of which this process has a part
        self._incomplete: list[int] = []  # calls of which something is lost
        self._stride = 1  # that of the calls which were left by the rounds before
        self._thinned = 0
        self._newest = 0  # of the calls that can be thinned, it stays
        self._calls = self._unthinned = 0
        self._waiting: dict[int, CallFacts] = {}
        self._leaf_calls: list[Row] = []  # of these
        self._events: EventWriter | None = None
        self._written = monotonic()
        self._process = os.getpid()
        self._busy = RLock()
        if waits:
            self._database = _connected(":memory:")
            _add_tables(self._database, header)
        else:
            self._open(lambda database: _add_tables(database, header))

    @property
    def is_open(self) -> bool:
        """Whether it is still written."""
        return self._database is not None and os.getpid() == self._process

    def add_header(self, header: Header) -> None:
        self._change([("meta", _header_rows(header))])

    def add_leaf(self, leaf: Leaf) -> None:
        self._write("leaves", schema.LEAVES.row(leaf))
        if leaf.is_part:
            self._parts.append(leaf.number)
            self._put_meta("parts", self._parts)

    def add_training(self, training: Training) -> None:
        self._put_meta("training", training)

    def add_events(self, noted: Noted) -> None:
        self._events = EventWriter(noted)

    def add_incomplete(self, call: int) -> None:
        if call not in self._incomplete and len(self._incomplete) < _MOST_INCOMPLETE:
            self._incomplete.append(call)
            self._put_meta("incomplete", self._incomplete)

    def add_structure(self, structure: Structure) -> None:
        number = self._structures[structure.key] = len(self._structures)
        document = structure.document
        nodes = [(number, *node) for node in structure.nodes]
        row = (number, structure.key, len(document), encoding.compressed(document))
        self._change([("structures", [row]), ("nodes", nodes)])

    def add_source(self, file: str, text: str) -> None:
        self._write("sources", (file, encoding.compressed(text)))

    def add_warning(self, warned: Warned) -> None:
        self._write("warnings", schema.WARNINGS.row(warned, None))

    def add_note(self, note: str) -> None:
        self._write("notes", (None, note))

    def add_begun(self, call: CallFacts) -> None:
        self._put_soon(call)

    def _put_soon(self, call: CallFacts) -> None:
        """Write what is known of a call, and of those that wait, if one of them is to be written
        now."""
        self._waiting[call.index] = call
        is_full = call.level not in ("call", "leaves") or len(self._leaf_calls) > _ROWS
        if is_full or call.error or monotonic() - self._written > _PAUSE:
            self._change()

    def add_ended(self, call: CallFacts, leaves: Sequence[LeafFacts], flow: Flow | None) -> None:
        memory = self._database
        if self._waits and self.is_open and memory is not None:
            self._open(memory.backup)
            memory.close()
        self._leaf_calls += [schema.LEAF_CALLS.row(leaf, call.index) for leaf in leaves]
        if flow is not None:
            self.add_flow(call, flow)
        elif call.index in self._waiting:
            self._put_soon(call)
        else:  # the file says that it has begun
            self._waiting[call.index] = call
            self._change()
        self._calls += 1
        if self._newest:
            self._recorded.append(self._newest)
        is_first = self._calls == 1
        self._newest = 0 if is_first or call.is_troubled or call.error else call.index
        self._unthinned += 1
        if not self._waiting:
            self._make_room()

    def add_flow(self, call: CallFacts, flow: Flow) -> None:
        self._waiting[call.index] = call
        self._change(encoding.flow_rows(call.index, flow))

    def add_end(self) -> None:
        """Take note that the run is over, and make one file of it, if there is any."""
        if self._waiting and not self._waits:
            self._change()
        self._make_room()
        if self._thinned:
            self.add_note(
                f"to stay within {format_bytes(self._max_size)}, only the line, the loss and the "
                f"time were kept of {plural(self._thinned, 'call')}"
            )
        self._put_meta("finished", True)
        if self._database is not None and self.is_open and not self._waits:
            # where the disk is full, the files that stay belong together
            with suppress(sqlite3.Error):
                self._database.execute("PRAGMA journal_mode = DELETE").fetchall()
        self._close()

    def _row_of(self, call: CallFacts) -> Row:
        structure: Any = self._structures.get(call.structure)
        return schema.CALLS.row(call._replace(structure=structure))

    def _open(self, fill: Callable[[sqlite3.Connection], None]) -> None:
        """Make the file, with what it begins with; where that fails, the program goes on."""
        self._waits, self._database = False, None
        try:
            self._claimed = claimed = claim(self._place)
            self.path = claimed.name
            if claimed.told:
                tell(claimed.told)
            self._database = _connected(claimed.file)
            fill(self._database)
            self._database.execute("PRAGMA journal_mode = WAL").fetchall()
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.execute(f"PRAGMA journal_size_limit = {encoding.CHUNK}")
            self.file = claimed.file
        except RecordingError as error:
            self._give_up(f"nothing is recorded: {error}")
        except (sqlite3.Error, OSError) as error:
            if self._claimed is not None:
                with suppress(OSError):
                    self._claimed.file.unlink()
            self._give_up(f"nothing is recorded: cannot write {self.path} ({said(error)})")

    def _give_up(self, problem: str) -> None:
        tell(problem)
        self.has_failed = True
        self._close()

    def _write(self, table: str, row: Row) -> None:
        self._change([(table, [row])])

    def _put_meta(self, key: str, value: Any) -> None:
        self._write("meta", (key, json.dumps(value)))

    def _change(
        self, added: Iterable[tuple[str, Sequence[Row]]] = (), thinned: Sequence[Row] = ()
    ) -> None:
        """Write in a transaction, if the recording goes on: what waits, rows that are ``added`` to
        tables, and calls that are ``thinned``; where that fails, the recording ends."""
        with self._busy:
            database = self._database
            if database is None or not self.is_open:
                return
            try:
                with database:
                    database.execute("BEGIN IMMEDIATE")
                    _add(database, "calls", [*map(self._row_of, self._waiting.values())])
                    _add(database, "leaf_calls", self._leaf_calls)
                    if self._events is not None:
                        events = self._events.rows()
                        _add(database, "events", [*map(schema.EVENTS.row, events)])
                    for table, rows in added:
                        _add(database, table, rows)
                    for statement in schema.THIN if thinned else ():
                        database.executemany(statement, thinned)
                self._waiting.clear()
                self._leaf_calls.clear()
                self._written = monotonic()
            except (sqlite3.Error, OSError) as error:
                kept = f"{plural(self._calls, 'call')} in {self.path}"
                self._give_up(
                    f"the recording ends here: cannot write {self.path} ({said(error)}); {kept}"
                )

    def _close(self) -> None:
        if os.getpid() == self._process:
            if self._database is not None:
                with suppress(sqlite3.Error):
                    self._database.close()
            if self._claimed is not None:
                self._claimed.release()  # after the database: this lets go of its locks, too
                self._claimed = None
        self._database = None

    def _make_room(self) -> None:
        """Forget a few calls for each that was written since the last time, where that is too
        much."""
        while self._unthinned and self._thin():
            self._unthinned -= 1
        self._unthinned = 0

    def _thin(self) -> bool:
        """Forget a few calls that are not worth their room; return whether there was too much."""
        if self._database is None or not self._recorded:
            return False
        try:
            if self._used() <= self._max_size:
                return False
        except sqlite3.Error:
            return False
        chosen: list[Row] = []
        while self._recorded and len(chosen) < _AT_ONCE:
            index = self._recorded.popleft()
            if index % (2 * self._stride):
                chosen.append((index,))
            else:
                self._kept.append(index)
        if len(self._recorded) <= _AT_ONCE:  # the newest stay; once more, from the first on
            self._recorded, self._kept = self._kept + self._recorded, deque()
            self._stride *= 2
        self._change(thinned=chosen)
        self._thinned += len(chosen)
        return True

    def _used(self) -> int:
        """Return the bytes that the database takes, without what is free in it."""
        assert self._database is not None
        database = self._database
        names = ("page_count", "freelist_count", "page_size")
        count, free, size = [database.execute(f"PRAGMA {name}").fetchone()[0] for name in names]
        return int(count - free) * int(size)


_AT_ONCE: Final = 4
_MOST_INCOMPLETE: Final = 1000
"""Calls that are named: one is enough for what is said of a run as a whole."""


def _header_rows(header: Header) -> list[Row]:
    return [(key, json.dumps(value)) for key, value in asdict(header).items()]


def _add(database: sqlite3.Connection, table: str, rows: Sequence[Row]) -> None:
    """Add rows, which have the columns of the table in their order."""
    if not rows:
        return
    marks = ", ".join("?" * len(rows[0]))
    statement = f"INSERT OR REPLACE INTO {table} VALUES ({marks})"
    try:
        database.executemany(statement, rows)
    except UnicodeEncodeError:  # names of a program may be no text that can be written
        database.executemany(statement, [tuple(map(_writable, row)) for row in rows])


def _writable(value: Any) -> Any:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _connected(file: Path | str) -> sqlite3.Connection:
    database = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    database.execute("PRAGMA page_size = 4096")
    return database


def _add_tables(database: sqlite3.Connection, header: Header) -> None:
    """Make a recording of an empty database."""
    database.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    database.execute(f"PRAGMA user_version = {schema.VERSION}")
    with database:
        database.execute("BEGIN")
        for statement in schema.TABLES.split(";"):
            database.execute(statement)
        _add(database, "meta", _header_rows(header))
