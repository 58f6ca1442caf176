"""What was typed at the prompt, kept between sessions."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from platformdirs import user_state_path

VARIABLE = "GRADSTEP_HISTORY"  # names the file; where it is empty, nothing is kept
MOST = 1_000  # lines; the file has up to twice as many


class History:
    """The lines typed so far, the last one last: commands, and words to search for, which begin
    with a slash.

    They are in a file that only the user can read.  Where that cannot be read or written, the
    history lasts only for this process.
    """

    def __init__(self) -> None:
        self._file = _file()
        self._lines = [] if self._file is None else _read(self._file)

    def lines(self, *, search: bool) -> list[str]:
        """Return the commands, or the words to search for."""
        return [line.removeprefix("/") for line in self._lines if line.startswith("/") == search]

    def add(self, line: str, *, search: bool) -> None:
        """Keep a line, unless it repeats the last one."""
        line = f"/{line}" if search else line
        if self._lines[-1:] == [line]:
            return
        self._lines.append(line)
        if self._file is not None:
            with suppress(OSError):
                self._file.parent.mkdir(parents=True, exist_ok=True)
                with open(os.open(self._file, _APPEND, 0o600), "a", encoding="utf-8") as file:
                    file.write(f"{line}\n")

    def before(self, place: int, text: str, *, search: bool) -> int | None:
        """Return the place of the last line before ``place`` that has ``text``, None if there
        is none."""
        lines = self.lines(search=search)[:place]
        return next((at for at in reversed(range(len(lines))) if text in lines[at]), None)


_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT


def _file() -> Path | None:
    named = os.environ.get(VARIABLE)
    if named is None:
        return user_state_path("gradstep", appauthor=False) / "history"
    return Path(named) if named else None


def _read(file: Path) -> list[str]:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    if len(lines) > 2 * MOST:
        with suppress(OSError):
            file.write_text("".join(f"{line}\n" for line in lines[-MOST:]), encoding="utf-8")
    return lines[-MOST:]
