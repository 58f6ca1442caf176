"""Files are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from gradstep_viz.errors import CannotWrite


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
