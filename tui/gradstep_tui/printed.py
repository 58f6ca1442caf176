"""What a program prints while a screen is open, kept where the end of its process does no harm."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from functools import cache
from threading import Lock

from gradstep_tui import output


class Printed:
    """Texts that a program printed, in a file without a name.

    A process shares it with those that are forked from it, and so knows what these printed, and
    whether a screen of theirs is open.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # as long as the process
        self._lock = Lock()

    def open(self) -> None:
        """A screen opens: what is printed is kept from here on."""
        self._write(b"\n")

    @property
    def is_open(self) -> bool:
        """True from :meth:`open` on, until all is shown."""
        return self._file.seek(0, 2) > 0

    def add(self, text: str, stderr: bool) -> None:
        """Keep a text."""
        self._write(json.dumps([text, stderr]).encode() + b"\n")

    def _write(self, line: bytes) -> None:
        with self._lock, suppress(OSError):  # a full disk must not disturb the program
            self._file.seek(0, 2)
            self._file.write(line)

    def show(self) -> None:
        """Print what was kept to where it was meant to go: the terminal is no screen now."""
        with self._lock:
            self._file.seek(0)
            lines = self._file.read().split(b"\n")
            self._file.truncate(0)
        for line in lines[:-1]:  # behind the last one is nothing, or what was cut off
            if line:
                text, stderr = json.loads(line)
                output.replay(text, stderr)


@cache
def printed() -> Printed:
    """Return what is printed under the screens of this process."""
    return Printed()
