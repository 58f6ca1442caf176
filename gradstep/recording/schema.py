"""The tables of a recording's file, an SQLite database; ``docs/reference/recordings.rst`` tells
what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from gradstep.recording.encoding import TensorRow
from gradstep.recording.event_rows import EventRow
from gradstep.recording.facts import CallFacts, Leaf, LeafFacts, Warned
from gradstep.recording.rows import Table

APPLICATION_ID: Final = 0x67737265  # "gsre"
VERSION: Final = 3
HEAD: Final = 100
"""Bytes that tell what a file is."""
MAGIC: Final = b"SQLite format 3\0"

LEAVES: Final = Table("leaves", Leaf, ("leaf",), names={"number": "leaf"}, left_out="is_part")
CALLS: Final = Table("calls", CallFacts, ("call",), names={"index": "call"}, numbered="structure")
LEAF_CALLS: Final = Table(
    "leaf_calls", LeafFacts, ("call", "leaf"), names={"after": "", "after_checksum": "checksum"}
)
WARNINGS: Final = Table("warnings", Warned, ("warning",))
TENSORS: Final = Table("tensors", TensorRow, ("call", "tensor"), names={"statistics": ""})
EVENTS: Final = Table("events", EventRow, ("event",))
"""What versions before 3 lack."""
TABLES: Final = f"""\
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (note INTEGER PRIMARY KEY, text TEXT NOT NULL);
{WARNINGS.create};
{EVENTS.create};
CREATE TABLE sources (file TEXT PRIMARY KEY, text BLOB NOT NULL) WITHOUT ROWID;
{LEAVES.create};
CREATE TABLE structures (structure INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL, document BLOB NOT NULL);
CREATE TABLE nodes (structure INTEGER NOT NULL, node INTEGER NOT NULL, half TEXT NOT NULL,
  kind TEXT NOT NULL, name TEXT NOT NULL, address TEXT NOT NULL, scope TEXT NOT NULL, file TEXT,
  line INTEGER, PRIMARY KEY (structure, node)) WITHOUT ROWID;
{CALLS.create};
{LEAF_CALLS.create};
CREATE TABLE flows (call INTEGER PRIMARY KEY, facts BLOB NOT NULL);
{TENSORS.create};
CREATE TABLE chunks (call INTEGER NOT NULL, tensor INTEGER NOT NULL, chunk INTEGER NOT NULL,
  data BLOB NOT NULL, PRIMARY KEY (call, tensor, chunk));
CREATE TABLE node_tensors (call INTEGER NOT NULL, node INTEGER NOT NULL, tensor INTEGER NOT NULL,
  PRIMARY KEY (call, node)) WITHOUT ROWID;
CREATE TABLE edge_tensors (call INTEGER NOT NULL, edge INTEGER NOT NULL, tensor INTEGER NOT NULL,
  PRIMARY KEY (call, edge)) WITHOUT ROWID;
"""
"""A call has rows in ``leaf_calls`` unless its level is ``call``, and in those after it only where
it is ``stats`` or ``all``."""

_OF_CALL: Final = (
    "leaf_calls", "flows", "tensors", "chunks", "node_tensors", "edge_tensors"
)  # fmt: skip
THIN: Final = (
    *(f"DELETE FROM {table} WHERE call = ?" for table in _OF_CALL),
    "UPDATE calls SET level = 'call' WHERE call = ?",
)
"""What leaves nothing of a call but its row."""


def is_head(head: bytes) -> bool:
    """Return whether a file that begins so is a recording."""
    return head.startswith(MAGIC) and head[68:72] == APPLICATION_ID.to_bytes(4, "big")


def parts(statements: Iterable[str]) -> set[tuple[str, ...]]:
    """Return what makes each table, whatever the order of its columns."""
    found = (re.findall(r"\w[\w ]*", " ".join(one.split())) for one in statements)
    return {tuple(sorted(words)) for words in found if words}
