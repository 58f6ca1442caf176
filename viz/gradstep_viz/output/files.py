"""Files are written whole or not at all."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from gradstep_viz.errors import CannotWrite

_HEAD: Final = 1 << 16
"""Bytes of a file that tell what it is."""


def require_replaceable(path: Path, mark: bytes) -> None:
    """See that a file that is there, if any, is ours: what a pattern stands for is in it. An empty
    one is nobody's; nothing takes the place of a device or pipe.

    Raises:
        CannotWrite: it is not.
    """
    head = b""
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(_HEAD)
    if head and not is_marked(head, mark):
        raise CannotWrite(
            "cannot replace this file, which gradstep has not written",
            where=str(path),
            remedy="name another one, or remove it first",
        )


def is_marked(data: bytes, mark: bytes) -> bool:
    """Return whether what a pattern stands for is in a file."""
    return re.search(mark, data, re.MULTILINE) is not None


def write_atomically(path: Path, data: bytes) -> Path:
    """Write a temporary file beside ``path``, then put it in its place.

    A link is followed, and a device or pipe written to: nothing may replace those.
    """
    temporary = ""
    path = path.resolve()
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(data)
            return path
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part", delete=False
        ) as file:
            temporary = file.name
            file.write(data)
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        reason = (error.strerror or str(error)).lower()
        raise CannotWrite(
            f"cannot write the file ({reason})",
            where=str(path),
            remedy="choose a directory that exists and that you may write to",
        ) from None
    return path


def _mode(path: Path) -> int:
    """Return the rights of the file that is replaced, else those that a new file would get."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
