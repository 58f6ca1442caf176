"""Typed words with their columns, and errors that point at them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from gradstep.debugger.errors import CommandError, ExpressionError
from gradstep.graph.errors import UnknownAddress
from gradstep.text import did_you_mean

LONGEST_LINE = 4000  # characters; Python reads no number of more than 4300 digits


class Operands(NamedTuple):
    """The rest of a command line, and the column at which it begins."""

    text: str
    column: int

    @classmethod
    def after(cls, line: str, column: int) -> Operands:
        """Take what ``line`` holds from ``column`` on."""
        rest = line[column:]
        return cls(rest.strip(), column + len(rest) - len(rest.lstrip()))

    def first(self) -> tuple[Operands, Operands]:
        """Return the first word, and the rest."""
        word = self.text.split(None, 1)[0] if self.text else ""
        return Operands(word, self.column), Operands.after(self._padded, self.column + len(word))

    def partition(self, separator: str) -> tuple[Operands, bool, Operands]:
        """Split at ``separator``, and say whether there is one."""
        before, separated, _ = self.text.partition(separator)
        behind = Operands.after(self._padded, self.column + len(before) + len(separated))
        return Operands(before.rstrip(), self.column), bool(separated), behind

    def words(self) -> list[Operands]:
        """Return every word."""
        return [Operands(m[0], self.column + m.start()) for m in re.finditer(r"\S+", self.text)]

    def behind(self, column: int) -> Operands:
        """Return what begins at ``column`` of the line."""
        return Operands.after(self._padded, column)

    def cut(self, word: str) -> tuple[Operands, Operands | None]:
        """Split at the word ``word``; None stands for the rest where it does not occur."""
        match = re.search(rf"(?<!\S){word}(?!\S)", self.text)
        if match is None:
            return self, None
        before = Operands(self.text[: match.start()].rstrip(), self.column)
        return before, Operands.after(self._padded, self.column + match.end())

    @property
    def _padded(self) -> str:
        return " " * self.column + self.text

    def error(self, message: str) -> CommandError:
        """Return an error that points here."""
        return CommandError(message, self.column)

    def count(self, default: int = 1) -> int:
        """Return a whole number from 1 on."""
        if not self.text:
            return default
        if not self.text.isdecimal() or int(self.text) == 0:
            raise self.error(f"'{self.text}' is not a count: write a positive integer")
        return int(self.text)

    def required(self, what: str) -> Operands:
        """Itself, if there is something.

        Raises:
            CommandError: ``what`` is missing.
        """
        if not self.text:
            raise self.error(what)
        return self


@contextmanager
def pointing_at(operands: Operands) -> Iterator[None]:
    """Turn what is wrong with a place or an expression into an error that points into it."""
    try:
        yield
    except ExpressionError as error:
        raise CommandError(str(error), operands.column + error.column) from None
    except UnknownAddress as error:
        raise CommandError(str(error), operands.column) from None


def choose(word: Operands, known: Iterable[str], what: str) -> str:
    """Return the one of ``known`` that ``word`` is, or begins alone.

    Raises:
        CommandError: none, or several.
    """
    words = list(dict.fromkeys(known))
    if word.text in words:
        return word.text
    begins = [candidate for candidate in words if word.text and candidate.startswith(word.text)]
    if len(begins) == 1:
        return begins[0]
    if begins:
        raise word.error(f"'{word.text}' may be {', '.join(begins)}: write more of it")
    hint = did_you_mean(word.text, words)
    raise word.error(f"there is no {what} '{word.text}'{hint and f'; {hint}'}")
