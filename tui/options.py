"""The options that all subcommands share: the parser, its types, and TARGET."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from tui import output
from tui.errors import Answered, ExitCode, Failure

TARGET = """\
TARGET is one of
  file.py              a script; it runs as usual, with ARGS
  file.py:name         a tensor, a function that returns one, or a module
                       with sample_inputs
  package.module:name  the same
  -m package.module    a module, run as python -m does, with ARGS
"""
ARGUMENTS = """\
Options may also follow TARGET. What gradstep does not know there goes to the
script, and so does everything after --.
"""
CALL_HELP = (
    "which backward() call of a script: 1 (default), 2, ... or last; grad:1, grad:2, ... or "
    "grad:last are the calls of autograd.grad()"
)


class _Help(argparse.RawDescriptionHelpFormatter):
    """As wide as the texts above, which are not wrapped."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=20, width=79)


class Parser(argparse.ArgumentParser):
    """Errors in our form, and no guessing at shortened options, which may be the script's."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(allow_abbrev=False, add_help=False, formatter_class=_Help, **keywords)

    @property
    def known(self) -> list[str]:
        """The long options."""
        return [name for name in self._option_string_actions if name.startswith("--")]

    def error(self, message: str) -> NoReturn:
        command = self.prog.removeprefix("gradstep").strip()
        about = f"{command}: " if command else ""
        raise Failure(f"{about}{message}; {self.prog} --help shows the usage", ExitCode.USAGE)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise Answered

    def _print_message(self, message: str, file: object = None) -> None:
        output.show(message, end="")


def positive_number(text: str) -> int:
    """Return a number from 1 on."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)


def words(text: str) -> list[str]:
    """Return words between commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


def seconds(text: str) -> float:
    """Return a time from a hundredth of a second up."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.01 <= number <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds")
    return number


def size(text: str) -> int:
    """Return a number of bytes, such as 500M."""
    digits, unit = (text[:-1], text[-1:].upper()) if text[-1:].isalpha() else (text, "")
    if not digits.isdecimal() or unit not in ("", *_UNITS):
        raise argparse.ArgumentTypeError(f"'{text}' is no size, such as 500M or 4G")
    return int(digits) * _UNITS.get(unit, 1)
