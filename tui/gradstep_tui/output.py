"""The two output streams of the command, which are safe for terminals and never raise.

Much of what is printed comes from the user's program: names, exception texts, source lines.  Here,
in the one place where text leaves, control characters in it are replaced, and what the encoding
lacks is written in ASCII.

A stream that fails (a full disk, a reader that is gone) must not disturb the program in whose
``backward()`` we print: nothing more is written to it, and :func:`end` tells what happened.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from shutil import get_terminal_size
from textwrap import indent
from typing import Any, Literal

from gradstep_tui.errors import ExitCode

_ASCII = {
    "·": "*", "│": "|", "−": "-", "×": "x", "…": "...", "⋯": "...", "→": "->", "←": "<-", "↑": "^",
    "↓": "v", "∂": "d", "Σ": "sum", "√": "sqrt", "ε": "eps", "µ": "u", "ᵀ": "^T", "⏎": "\\n",
    "≠": "!=", "±": "+-", "≈": "~",
    "\N{NO-BREAK SPACE}": " ", "\N{REPLACEMENT CHARACTER}": "?",
    "▁": "_", "▂": ".", "▃": "-", "▄": "=", "▅": "+", "▆": "*", "▇": "#", "█": "@",
    "░": ":",
}  # fmt: skip
_BESIDE = 32  # cells at the right of a terminal
_POWER = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


class Stream:
    """Standard output or standard error, as it was when the command began: a script may put
    something else in its place, which is for what the script prints.

    ``problem`` says why nothing can be written any more, "" while all is well.
    """

    def __init__(self, name: Literal["stdout", "stderr"]) -> None:
        self._name = name
        self._first = getattr(sys, name)
        self.problem = ""
        self.reader_is_gone = False

    @property
    def file(self) -> Any:
        """The file to write to, None where there is none."""
        return next(filter(_is_open, (self._first, getattr(sys, self._name))), None)

    def write(self, text: str, styles: Mapping[str, str] | None = None) -> None:
        """Write text, with control characters replaced; on a terminal, what matches a pattern of
        ``styles`` has that style."""
        if not text.replace("\n", "").isprintable():
            # late: usage and help need nothing of the core, and should not wait for it
            from gradstep.text import printable_lines

            text = printable_lines(text)
        self.write_as_it_is(self._with_styles(text, styles) if styles else text)

    @property
    def is_terminal(self) -> bool:
        """Whether it is a terminal that can move its cursor."""
        dumb = os.environ.get("TERM") in ("dumb", "unknown")
        return not dumb and self.file is not None and bool(self.file.isatty())

    def _with_styles(self, text: str, styles: Mapping[str, str]) -> str:
        """Return text with the escapes of its styles, if this stream is to have some."""
        environment = os.environ
        if environment.get("NO_COLOR") or not (
            self.is_terminal or {"FORCE_COLOR", "TTY_COMPATIBLE"} & environment.keys()
        ):
            return text  # rich would find the same, and takes 40 ms to load
        from rich.console import Console
        from rich.text import Text

        console = Console(file=self.file)
        if console.color_system is None or console.is_jupyter or console.legacy_windows:
            return text
        styled = Text(text)
        for pattern, style in styles.items():
            styled.highlight_regex(pattern, style)
        with console.capture() as written:
            console.print(styled, end="", soft_wrap=True)
        return written.get()

    def write_as_it_is(self, text: str) -> None:
        """Write text of our own, with escapes in it, or such as the program printed."""
        file = self.file
        encoding = getattr(file, "encoding", None) or "utf-8"
        self._try(lambda: file.write(in_encoding(text, encoding)))

    def write_bytes(self, data: bytes) -> None:
        """Write data."""
        self._try(lambda: self.file.buffer.write(data))

    def flush(self) -> None:
        """Hand on what waits in the buffer, be it ours or the program's."""
        if self.file is not None:
            self._try(lambda: None)

    def _try(self, work: Any) -> None:
        if self.problem:
            return
        if self.file is None:
            self.problem = "it is closed"
            return
        try:
            work()
            self.file.flush()
        except BrokenPipeError:
            self.problem, self.reader_is_gone = "its reader has closed it", True
        except OSError as error:
            self.problem = (error.strerror or str(error)).lower()

    def silence(self) -> None:
        """See that what is left in the buffer disturbs nobody when the process ends."""
        if self.file is None:
            return
        with suppress(OSError, ValueError):  # it may be no file
            number = self.file.fileno()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)


def _is_open(file: Any) -> bool:
    try:
        return file is not None and not getattr(file, "closed", False)
    except ValueError:  # its buffer was detached
        return False


def in_encoding(text: str, encoding: str) -> str:
    """Return ``text`` with characters that ``encoding`` lacks written in ASCII.

    >>> in_encoding("2 · x¹⁰ → −1…", "ascii"), in_encoding("2 · é", "latin-1")
    ('2 * x^10 -> -1...', '2 · é')
    >>> in_encoding("é 量", "ascii")
    '\\\\xe9 \\\\u91cf'
    """
    if _has_all(encoding, text):
        return text
    text = _POWER.sub(
        lambda run: run[0] if _has_all(encoding, run[0]) else f"^{run[0].translate(_DIGITS)}", text
    )
    return "".join(
        character
        if _has_all(encoding, character)
        else _ASCII.get(character) or character.encode("ascii", "backslashreplace").decode()
        for character in text
    )


def _has_all(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


_out, _err = Stream("stdout"), Stream("stderr")
_prefix = ""
_is_silent = False


def begin(prefix: str = "") -> None:
    """Take the streams as they are now for those of the command, and begin each line of text with
    ``prefix``."""
    global _out, _err, _prefix, _is_silent
    _out, _err, _prefix, _is_silent = Stream("stdout"), Stream("stderr"), prefix, False


def be_silent() -> None:
    """Leave it to another process to show what was asked for; errors are still told."""
    global _is_silent
    _is_silent = True


def end(code: int) -> int:
    """Finish both streams; the exit code, which is ``code`` unless all was well but the output."""
    _out.flush()
    if _out.problem and not _out.reader_is_gone:
        say(f"cannot write to standard output ({_out.problem}); redirect it elsewhere")
        code = code or ExitCode.USAGE
    _err.flush()
    for stream in (_out, _err):
        if stream.problem:
            stream.silence()
    return code


def is_shown_on_terminal() -> bool:
    """Return whether what is shown goes to a terminal, for somebody to read."""
    return not _is_silent and _out.is_terminal


def flush() -> None:
    """Hand on what the program has printed so far."""
    _out.flush()


def show(text: str, end: str = "\n", styles: Mapping[str, str] | None = None) -> None:
    """Print what was asked for; on a terminal, what matches a pattern of ``styles`` has that
    style of rich's."""
    if not _is_silent:
        _out.write(_with_prefix(text) + end, styles)


def show_bytes(data: bytes) -> None:
    """Write data that was asked for."""
    if not _is_silent:
        _out.write_bytes(data)


def say(text: str) -> None:
    """Print to standard error what the user has to know, such as an error."""
    relay(f"gradstep: {text}")


def relay(text: str) -> None:
    """Print to standard error what the user's program has to say."""
    _err.write(f"{_with_prefix(text)}\n")


def _with_prefix(text: str) -> str:
    return indent(text, _prefix) if _prefix else text


def progress(text: str) -> None:
    """Show in one line of a terminal how far work is, "" for nothing any more."""
    _err.write_as_it_is(f"\r{text}" if text else "\r\x1b[K")


def progress_beside(text: str) -> None:
    """Show at the right end of a line of a terminal how far a program is that may print, too; the
    cursor stays where the program left it.  ``text`` replaces a shorter one; "" clears the line
    from there."""
    column = max(1, get_terminal_size().columns - _BESIDE)
    _err.write_as_it_is(f"\x1b7\x1b[{column}G\x1b[K{text[:_BESIDE]}\x1b8")


def progress_is_seen() -> bool:
    """Return whether somebody may be watching."""
    return not _is_silent and _err.is_terminal


def replay(text: str, stderr: bool) -> None:
    """Print what the program printed while a screen was open."""
    (_err if stderr else _out).write_as_it_is(text)
