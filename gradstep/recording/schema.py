"""The tables of a recording's file, an SQLite database; ``docs/reference/recordings.rst`` tells
what they mean."""

from __future__ import annotations

import re
from typing import Final

APPLICATION_ID: Final = 0x67737265  # "gsre"
VERSION: Final = 2
CHUNK: Final = 1 << 24
"""Bytes of a tensor in one row."""
HEAD: Final = 100
"""Bytes that tell what a file is."""
MAGIC: Final = b"SQLite format 3\0"

_STATISTICS: Final = """{0}size INTEGER, {0}rms REAL, {0}minimum REAL, {0}maximum REAL,
  {0}zeros INTEGER, {0}nans INTEGER, {0}infs INTEGER"""

TABLES: Final = f"""\
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (note INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE warnings (warning INTEGER PRIMARY KEY, call INTEGER NOT NULL, category TEXT NOT NULL,
  message TEXT NOT NULL, file TEXT, line INTEGER);
CREATE TABLE sources (file TEXT PRIMARY KEY, text BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE leaves (leaf INTEGER PRIMARY KEY, name TEXT NOT NULL, shape TEXT, dtype TEXT NOT NULL,
  is_parameter INTEGER NOT NULL, module TEXT NOT NULL);
CREATE TABLE structures (structure INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL, document BLOB NOT NULL);
CREATE TABLE nodes (structure INTEGER NOT NULL, node INTEGER NOT NULL, half TEXT NOT NULL,
  kind TEXT NOT NULL, name TEXT NOT NULL, address TEXT NOT NULL, scope TEXT NOT NULL, file TEXT,
  line INTEGER, PRIMARY KEY (structure, node)) WITHOUT ROWID;
CREATE TABLE calls (call INTEGER PRIMARY KEY, kind TEXT NOT NULL, number INTEGER NOT NULL,
  file TEXT, line INTEGER, step INTEGER NOT NULL, level TEXT NOT NULL, structure INTEGER,
  roots TEXT NOT NULL, loss REAL, nodes INTEGER, began REAL NOT NULL, seconds REAL, memory INTEGER,
  is_finished INTEGER NOT NULL, error TEXT NOT NULL, is_troubled INTEGER NOT NULL);
CREATE TABLE leaf_calls (call INTEGER NOT NULL, leaf INTEGER NOT NULL, {_STATISTICS.format("")},
  checksum INTEGER, {_STATISTICS.format("before_")}, before_checksum INTEGER, parameter_rms REAL,
  update_rms REAL, optimizer TEXT, training INTEGER, arrived INTEGER,
  PRIMARY KEY (call, leaf)) WITHOUT ROWID;
CREATE TABLE flows (call INTEGER PRIMARY KEY, facts BLOB NOT NULL);
CREATE TABLE tensors (call INTEGER NOT NULL, tensor INTEGER NOT NULL, shape TEXT,
  dtype TEXT NOT NULL, {_STATISTICS.format("")}, stored TEXT,
  PRIMARY KEY (call, tensor)) WITHOUT ROWID;
CREATE TABLE chunks (call INTEGER NOT NULL, tensor INTEGER NOT NULL, chunk INTEGER NOT NULL,
  data BLOB NOT NULL, PRIMARY KEY (call, tensor, chunk));
CREATE TABLE node_tensors (call INTEGER NOT NULL, node INTEGER NOT NULL, tensor INTEGER NOT NULL,
  PRIMARY KEY (call, node)) WITHOUT ROWID;
CREATE TABLE edge_tensors (call INTEGER NOT NULL, edge INTEGER NOT NULL, tensor INTEGER NOT NULL,
  PRIMARY KEY (call, edge)) WITHOUT ROWID;
"""
"""A call has rows in ``leaf_calls`` unless its level is ``call``, and in those after it only where
it is ``stats`` or ``all``."""

OF_CALL: Final = (
    "leaf_calls", "flows", "tensors", "chunks", "node_tensors", "edge_tensors"
)  # fmt: skip
"""The tables that have rows of a call."""


def is_head(head: bytes) -> bool:
    """Return whether a file that begins so is a recording."""
    return head.startswith(MAGIC) and head[68:72] == APPLICATION_ID.to_bytes(4, "big")


def expected() -> set[tuple[str, str]]:
    """Return the name of each table, and the text that makes it."""
    statements = [word.strip() for word in TABLES.split(";") if word.strip()]
    return {(re.split(r"[ (]", statement)[2], statement) for statement in statements}
