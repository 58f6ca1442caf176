"""What a file may take that anybody may have made: reading one of N bytes takes at most 200 MB and
20 N, and ends in an error beyond that."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from gradstep.graph.bounded_json import ALWAYS, allowed, size_of
from tests.recording.test_files import recorded

Sample = Callable[[Sequence[Any], int], list[Any]]
READER: Final = """
import json, os, sys
from pathlib import Path
from gradstep.graph import bounded_json
from gradstep.engines.recorded import RecordedCall
from gradstep.graph.serialize import from_json
from gradstep.program.recorded_calls import show_sources
from gradstep.recording.errors import RecordingError
from gradstep.recording.reading import FileRun
from tests.recording.test_files import read_all

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

def read(path):
    if path.suffix == ".json":
        return from_json(path.read_text("utf-8"))
    read_all(path)
    with FileRun(path) as run:
        for index in run.full:
            show_sources(run, RecordedCall(run, index))
        for file in range(50):
            run.source(str(file))

bounded_json.ALWAYS = int(sys.argv[1])
for path in map(Path, sys.argv[2:]):
    if child := os.fork():
        os.waitpid(child, 0)
        continue
    before, said = peak(), ""
    try:
        read(path)
    except (RecordingError, ValueError, RecursionError) as error:
        said = f"{type(error).__name__}: {error}"
    except BaseException as error:
        said = f"not meant: {error!r}"
    print(json.dumps([path.name, peak() - before, said]), flush=True)
    os._exit(0)
"""


def packed(start: str, part: str, count: int, end: str) -> bytes:
    """Compress a long text without having it."""
    pack = zlib.compressobj(1)
    parts = [pack.compress(start.encode())]
    chunk = (part * 10_000).encode()
    parts += [pack.compress(chunk) for _ in range(count // 10_000)]
    return b"".join([*parts, pack.compress(end.encode()), pack.flush()])


def _document(database: sqlite3.Connection, part: str, count: int, end: str) -> None:
    document = packed('{"format":"gradstep-graph","version":1,"nodes":[', part, count, end)
    database.execute("UPDATE structures SET document = ?", [document])


def lines_of_a_source(database: sqlite3.Connection) -> None:
    database.execute("UPDATE sources SET text = ?", [packed("", "a\n", 60_000_000, "")])


def lines_of_many_sources(database: sqlite3.Connection) -> None:
    text = packed("", "a\n", 700_000, "")
    files = {row[0] for row in database.execute("SELECT file FROM nodes WHERE file NOT NULL")}
    database.executemany(
        "INSERT OR REPLACE INTO sources VALUES (?, ?)",
        [(file, text) for file in [*files, *map(str, range(50))]],
    )


def empty_lists(database: sqlite3.Connection) -> None:
    _document(database, "[],", 10_000_000, "[]]}")


def empty_objects(database: sqlite3.Connection) -> None:
    _document(database, "{},", 10_000_000, "{}]}")


def many_keys(database: sqlite3.Connection) -> None:
    keys = ",".join(f'"{number:x}":0' for number in range(700_000))
    document = '{"format":"gradstep-graph","version":1,"nodes":[],"edges":[],' + keys + "}"
    database.execute("UPDATE structures SET document = ?", [zlib.compress(document.encode(), 1)])


def long_texts(database: sqlite3.Connection) -> None:
    _document(database, '"' + "\U0001f600" * 500 + '",', 30_000, '""]}')


def steps(database: sqlite3.Connection) -> None:
    facts = packed('{"undefined":[', "[],", 10_000_000, "[]]}")
    database.execute("UPDATE flows SET facts = ?", [facts])


def notes(database: sqlite3.Connection) -> None:
    text = json.dumps([[]] * 8_000_000, separators=(",", ":"))
    database.execute("UPDATE meta SET value = ? WHERE key = 'incomplete'", [text])
    database.execute("INSERT OR REPLACE INTO meta VALUES ('incomplete', ?)", [text])


def a_shape(database: sqlite3.Connection) -> None:
    database.execute("UPDATE leaves SET shape = ?", ["[" + "[]," * 5_000_000 + "[]]"])


def roots(database: sqlite3.Connection) -> None:
    database.execute("UPDATE calls SET roots = ?", ["[" + "{}," * 1_000_000 + "{}]"])


def rows(database: sqlite3.Connection) -> None:
    database.executemany(
        "INSERT INTO warnings VALUES (?, 1, '', '', NULL, NULL)",
        [(number,) for number in range(100, 300_000)],
    )


def keys_of_modules(database: sqlite3.Connection) -> None:
    keys = ",".join(f'"{number:x}":""' for number in range(400_000))
    document = '{"format":"gradstep-graph","version":1,"nodes":[],"edges":[],"modules":{' + keys
    database.execute(
        "UPDATE structures SET document = ?", [zlib.compress(f"{document}}}}}".encode())]
    )


def short_rows(database: sqlite3.Connection) -> None:
    (leaves,) = database.execute("SELECT count(*) FROM leaves").fetchone()
    database.executemany(
        "INSERT INTO leaves VALUES (?, '', NULL, '', 0, '')",
        [(number,) for number in range(leaves, 400_000)],
    )


def rows_of_tensors(database: sqlite3.Connection) -> None:
    call, tensors = database.execute(
        "SELECT call, count(*) FROM tensors WHERE call = (SELECT min(call) FROM flows)"
    ).fetchone()
    database.executemany(
        f"INSERT INTO tensors VALUES (?, ?, NULL, ''{', NULL' * 8})",
        [(call, number) for number in range(tensors, 400_000)],
    )


# fmt: off
ATTACKS: Final[tuple[Callable[[sqlite3.Connection], None], ...]] = (
    lines_of_a_source, lines_of_many_sources, empty_lists, empty_objects, many_keys, long_texts,
    steps, notes, a_shape, roots, rows,
)
SMALL: Final[tuple[Callable[[sqlite3.Connection], None], ...]] = (
    many_keys, keys_of_modules, rows, short_rows, rows_of_tensors
)
# fmt: on
"""What takes many times the bytes that it has in the file."""
HARMLESS: Final = ("rows", "sample", "many_keys")
"""What is read without an error, or may be."""


def made(attacks: Iterable[Callable[[sqlite3.Connection], None]], folder: Path) -> list[Path]:
    """Return recordings that were attacked, and the one that was not."""
    sample = folder / "sample.gsr"
    recorded(sample)
    paths = [sample]
    for attack in attacks:
        path = folder / f"{attack.__name__}.gsr"
        shutil.copyfile(sample, path)
        with sqlite3.connect(path) as database:
            attack(database)
        database.close()
        paths.append(path)
    return paths


def see_what_they_take(paths: Sequence[Path], always: int, most: int) -> dict[str, str]:
    """Read files of which each may take ``most`` bytes and 20 for each of its own; return what
    was said of each, where values may ``always`` take so many."""
    done = subprocess.run(
        [sys.executable, "-c", READER, str(always), *map(str, paths)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, _, _ in told] == [path.name for path in paths]
    for path, (name, taken, said) in zip(paths, told, strict=True):
        assert taken <= most + 20 * os.path.getsize(path), (name, taken, said)
        assert not said.startswith("not meant"), (name, said)
    return {path.stem: said for path, (_, _, said) in zip(paths, told, strict=True)}


@pytest.mark.slow
def test_what_a_file_may_take_is_bounded(tmp_path: Path, sample: Sample) -> None:
    paths = made(sample(ATTACKS, 4), tmp_path)
    graph = tmp_path / "graph.json"
    graph.write_text('{"format":"gradstep-graph","version":1,"nodes":[' + "{}," * 10_000_000 + "{}")
    said = see_what_they_take([*paths, graph], ALWAYS, 200_000_000)
    assert {name for name in said if not said[name]} <= set(HARMLESS)


@pytest.mark.slow
def test_what_a_file_may_take_grows_with_the_file(tmp_path: Path, sample: Sample) -> None:
    paths = made(sample(SMALL, 2), tmp_path)
    keys = tmp_path / "keys.json"
    parts = ",".join(f'"{number:x}":0' for number in range(400_000))
    keys.write_text('{"format":"gradstep-graph","version":1,"nodes":[],"edges":[],' + parts + "}")
    see_what_they_take([*paths, keys], 5_000_000, 30_000_000)


@pytest.mark.parametrize("size", [0, 10**6])
def test_values_are_told_apart_from_their_size(size: int) -> None:
    text = json.dumps({"nodes": [{"kind": "op", "shape": [2, 3]}] * (1 + size // 40)})
    assert size_of(text) < allowed(len(text))
