"""All exceptions of the debugger."""

from __future__ import annotations

from textwrap import wrap

from gradstep.text import WIDTH, printable


class CommandError(ValueError):
    """A line cannot be carried out; ``column`` is where it is wrong, None for nowhere.

    ``line`` is the line it was in, and ``place`` where that line stands, ``FILE:NUMBER``, when
    it was not typed but read.
    """

    def __init__(self, message: str, column: int | None = None) -> None:
        super().__init__(message)
        self.column = column
        self.line = ""
        self.place = ""

    @property
    def text(self) -> str:
        """The line, a caret under the wrong word, and what is wrong with it."""
        heading = f"{self.place}: " if self.place else ""
        if self.column is None:
            return f"{heading}{self}"
        caret = " " * self.column + "^"
        if heading:
            return f"{heading}{self}\n  {self.line}\n  {caret}"
        if len(caret) + 1 + len(str(self)) <= WIDTH:
            return f"{self.line}\n{caret} {self}"
        return "\n".join([self.line, caret, *wrap(str(self), WIDTH)])


class EditError(ValueError):
    """The change cannot be made here; the text says why, and where it could."""


class StepLost(RuntimeError):
    """A step that went beyond the memory limit cannot be computed again."""


class ExpressionError(ValueError):
    """An expression that means nothing; ``column`` is where, from 0 on."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(printable(message))
        self.column = column


class Unanswerable(ValueError):
    """An expression that makes sense but has no value here: a division by zero, say."""
