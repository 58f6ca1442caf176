"""The name under which a recording is written: what stands there already is kept."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, NamedTuple

from gradstep.recording import schema
from gradstep.recording.errors import RecordingError
from gradstep.user_files import numbered_names

_BESIDE: Final = ("-wal", "-shm", "-journal")
"""The ends of names of the files that SQLite keeps beside a database."""
_written: Final[set[tuple[int, int]]] = set()
"""The files that this process writes. None of them is opened again: to close it would let go of
the locks that SQLite has on it."""


class Place(NamedTuple):
    """Where a recording is to be: the user knows the ``file`` as ``name``; ``is_link`` if that is a
    link to it."""

    name: Path
    file: Path
    is_link: bool

    def name_of(self, other: Path) -> Path:
        """Return what the user knows another file in the folder as."""
        return other if self.is_link else self.name.with_name(other.name)


class Claimed(NamedTuple):
    """A new, empty file, which nobody else writes as long as ``lock`` is open; the user knows it as
    ``name``, and has to know what is ``told``, "" for nothing."""

    file: Path
    name: Path
    lock: IO[bytes]
    told: str = ""

    def release(self) -> None:
        """Let others write to the file."""
        _written.discard(_identity(os.fstat(self.lock.fileno())))
        self.lock.close()


def place_at(path: Path) -> Place:
    """Return the place that a path names; nothing is touched.

    Raises:
        RecordingError: no recording can be written there, or the file there is none.
    """
    place = Place(path, path.resolve(), path.is_symlink())
    try:
        status = os.stat(path)
    except FileNotFoundError:
        if not place.file.parent.is_dir():
            folder = place.name_of(place.file).parent
            raise RecordingError(
                f"cannot write {path}: there is no directory {folder}", remedy="create it first"
            ) from None
        return place
    except OSError as error:
        raise cannot_write(path, error) from None
    if _identity(status) in _written:
        return place
    if stat.S_ISDIR(status.st_mode):
        raise RecordingError(f"{path} is a directory", remedy="name a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise RecordingError(f"{path} is not a regular file", remedy="name one, such as run.gsr")
    with suppress(OSError), path.open("rb") as file:
        _has_recording(path, file)
    return place


def claim(place: Place) -> Claimed:
    """Make a file for a recording. A recording that is there is renamed first; where that cannot
    be, or somebody writes to it, the new one gets another name.

    Raises:
        RecordingError: it cannot be made, or what is there is another file.
    """
    told = problem = ""
    try:
        while not problem:
            lock = None
            try:
                lock = _locked(place.file)
                if lock is None:
                    problem = f"another process is recording to {place.name}"
                elif _has_recording(place.name, lock) or _beside(place.file):
                    with lock:
                        aside = place.name_of(_move_aside(place.file))
                    told = f"the recording that was in {place.name} is now {aside}"
                else:
                    return _claimed(place.file, place.name, lock, told)
            except OSError as error:
                problem = f"{place.name} cannot be {'written' if lock is None else 'renamed'}"
                problem += f" ({said(error)})"
        other, lock = _reserved(place.file)
        name = place.name_of(other)
        return _claimed(other, name, lock, f"{problem}; this recording is {name}")
    except OSError as error:
        raise cannot_write(place.name, error) from None


def cannot_write(path: Path, error: Exception) -> RecordingError:
    """Return the error that says so."""
    return RecordingError(f"cannot write {path} ({said(error)})")


def said(error: Exception) -> str:
    """Return the reason that an error of the system gives."""
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(text.lower().split())


def _claimed(file: Path, name: Path, lock: IO[bytes], told: str) -> Claimed:
    _written.add(_identity(os.fstat(lock.fileno())))
    return Claimed(file, name, lock, told)


def _locked(place: Path) -> IO[bytes] | None:
    """Open the file at ``place`` for us alone, and make it where it is not there; None where
    somebody writes to it."""
    while True:
        with suppress(FileNotFoundError):
            if _identity(os.stat(place)) in _written:
                return None
        lock = _opened(place, os.O_CREAT)
        if not _lock(lock):
            lock.close()
            return None
        with suppress(FileNotFoundError):
            if _identity(os.stat(place)) == _identity(os.fstat(lock.fileno())):
                return lock
        lock.close()  # it was renamed before it was ours


def _opened(place: Path, flags: int) -> IO[bytes]:
    # unbuffered: a child that the program forks moves the place in the file
    return os.fdopen(os.open(place, os.O_RDWR | flags, 0o666), "rb+", buffering=0)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _lock(file: IO[bytes]) -> bool:
    """Take the lock of a file, if nobody has it; where the system has none, everybody gets it."""
    try:
        import fcntl  # not everywhere
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # some file systems have no locks
        return True
    return True


def _has_recording(name: Path, file: IO[bytes]) -> bool:
    """Return whether a file has a recording in it, rather than nothing.

    Raises:
        RecordingError: it has something else in it.
    """
    file.seek(0)
    head = file.read(schema.HEAD)
    if head and not schema.is_head(head):
        raise RecordingError(
            f"{name} exists and is not a recording", remedy="name another file with -o"
        )
    return bool(head)


def _beside(place: Path) -> list[str]:
    """Return the ends of names of what is beside a database."""
    return [ending for ending in _BESIDE if os.path.lexists(f"{place}{ending}")]


def _move_aside(place: Path) -> Path:
    """Give a recording, with the files that belong to it, the next free name; the lock is ours."""
    aside, lock = _reserved(place)
    endings = _beside(place)
    with lock:
        try:
            os.replace(place, aside)
        except OSError:
            aside.unlink()
            raise
        for ending in endings:
            os.replace(f"{place}{ending}", f"{aside}{ending}")
    return aside


def _reserved(place: Path) -> tuple[Path, IO[bytes]]:
    """Make an empty file of the next free name, and lock it."""
    for other in numbered_names(place):
        if not os.path.lexists(other) and not _beside(other):
            with suppress(FileExistsError):
                lock = _opened(other, os.O_CREAT | os.O_EXCL)
                _lock(lock)
                return other, lock
    raise AssertionError("names are without end")
