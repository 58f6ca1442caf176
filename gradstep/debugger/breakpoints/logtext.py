"""The text of a log point, with expressions in braces: ``seen {hits} times, rms {rms}``."""

from __future__ import annotations

import re
from typing import Any

from gradstep.debugger.breakpoints.predicate import NodeSubject, parse
from gradstep.debugger.errors import ExpressionError, Unanswerable
from gradstep.debugger.snapshot import Value
from gradstep.debugger.snapshot.wording import summary
from gradstep.graph.addresses import step_number
from gradstep.graph.statistics import format_number, format_shape

_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class LogText:
    """A text whose expressions were understood; ``{{`` and ``}}`` stand for braces.

    Raises:
        ExpressionError: an expression means nothing, or a brace stands alone.
    """

    def __init__(self, text: str) -> None:
        self._parts: list[Any] = []
        at = 0
        for braces in _BRACES.finditer(text):
            self._parts.append(text[at : braces.start()])
            at = braces.end()
            if braces[1] is not None:
                try:
                    self._parts.append(parse(braces[1]))
                except ExpressionError as error:
                    column = braces.start(1) + error.column
                    raise ExpressionError(str(error), column) from None
            elif len(braces[0]) == 1:
                raise ExpressionError("a brace stands alone: write it twice", braces.start())
            else:
                self._parts.append(braces[0][0])
        self._parts.append(text[at:])

    def filled(self, subject: NodeSubject) -> str:
        """Return the text for ``subject``, with its place before it."""
        address = subject.inspector.graph.address(subject.index)
        text = "".join(p if isinstance(p, str) else _answer(p, subject) for p in self._parts)
        return f"{step_number(subject.index)} {address}: {text}"


def _answer(expression: Any, subject: NodeSubject) -> str:
    try:
        return format_value(expression.value(subject))
    except Unanswerable as reason:
        return f"<{reason}>"


def format_value(value: Any) -> str:
    """Return the value of an expression in a few words.

    >>> format_value((2, 3)), format_value(0.5), format_value(True), format_value(None)
    ('[2, 3]', '0.5', 'yes', 'undefined')
    """
    match value:
        case None:
            return "undefined"
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return format_number(float(value))
        case Value():
            return summary(value)
        case tuple() if all(isinstance(size, int | float) for size in value):
            return format_shape(tuple(int(size) for size in value))
    return str(value)
