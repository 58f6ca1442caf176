"""The options that all subcommands share: the parser, its types, and TARGET."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import NoReturn

from gradstep_tui import output
from gradstep_tui.errors import Answered, ExitCode, Failure

TARGET = """\
TARGET is one of
  file.py              a script, run as usual with ARGS
  file.py:name         a tensor, a function that returns one, or a module
                       with sample_inputs
  package.module:name  the same, in a module
  -m package.module    a module, run as by python -m, with ARGS
  run.gsr              a recording: its calls that were kept in full
"""
ARGUMENTS = """\
Options go before TARGET. Everything after a script goes to the script, as with
python; -- before TARGET confirms that. After other targets, you may write
options.
"""
CALL_HELP = (
    "which backward() call: 1 (default for a script), 2, ... or last; for a recording, the "
    "default is the first call in full; for calls of "
    "autograd.grad(): grad:1, grad:2, ... or grad:last"
)


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the texts above, which are not wrapped."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=20, width=79)


class Parser(argparse.ArgumentParser):
    """A parser that reports errors in our form, and rejects shortened options, which may be the
    script's."""

    def __init__(self, command: str, usage: str, description: str, notes: str) -> None:
        """Return the parser of a command, with the words that follow it in a usage."""
        prog = f"gradstep {command}".rstrip()
        super().__init__(
            prog=prog, usage=f"{prog} {usage}", description=description, epilog=notes,
            allow_abbrev=False, add_help=False, formatter_class=_Help,
        )  # fmt: skip
        self.option = self.add_argument_group("options").add_argument
        """Adds one of the options."""
        self.option("-h", "--help", action="help", help="show this")

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """Read a command line."""
        options, others = self.parse_known_args(words)
        self.require_known(others)
        if others:
            self.error(f"{others[0]} is one word too many")
        return options

    def require_known(self, others: Sequence[str], remedy: str = "") -> None:
        """See that there are no options among words that are not ours; ``remedy`` is told where
        none looks like it."""
        for word in others:
            if not word.startswith("-") or word == "-":
                continue
            name = word.partition("=")[0]
            # late: it takes NumPy with it, for which --help need not wait
            from gradstep.text import did_you_mean

            long = [action for action in self._option_string_actions if action.startswith("--")]
            hint = did_you_mean(name, long, cutoff=0.7) or remedy
            self.error(f"there is no option {name}{f', {hint}' if hint else ''}")

    def is_option(self, word: str) -> bool:
        """Return whether ``word`` is one of the options, with or without a value."""
        return word.partition("=")[0] in self._option_string_actions

    def error(self, message: str) -> NoReturn:
        command = self.prog.removeprefix("gradstep").strip()
        about = f"{command}: " if command else ""
        raise Failure(f"{about}{message}; {self.prog} --help shows the usage", ExitCode.USAGE)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise Answered

    def _print_message(self, message: str, file: object = None) -> None:
        output.show(message, end="")


def positive_number(text: str) -> int:
    """Return a positive integer."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive integer")
    return int(text)


def words(text: str) -> list[str]:
    """Split a comma-separated list."""
    return [word.strip() for word in text.split(",") if word.strip()]


_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def seconds(text: str) -> float:
    """Return a time of at least a hundredth of a second."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.01 <= number <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds from 0.01 to 3600")
    return number


def size(text: str) -> int:
    """Return a number of bytes, such as 500M; a unit may end with B, and counts in 1,024."""
    number = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMG]?)I?B?", text.upper(), re.ASCII)
    if number is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size such as 500M or 4G")
    return int(float(number[1]) * _UNITS[number[2]])


def time_of(text: str) -> float:
    """Read ``60s``, ``2m`` or ``60``."""
    factor = {"s": 1, "m": 60, "h": 3600}.get(text[-1:], 0)
    try:
        found = float(text[:-1]) * factor if factor else float(text)
    except ValueError:
        found = 0.0
    if not found > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 60s or 2m")
    return found
