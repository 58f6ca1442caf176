"""The text of a derivative rule, as the debugger and the pictures show it.

It is read from the source of the rule that runs, so what is displayed is what runs.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from functools import cache
from types import CodeType
from typing import Any

_AT_BRACKET = re.compile(r"([(\[]) |,? ([)\]])")
"""What a line break inside brackets leaves behind."""


@cache
def rule_text(rule: Callable[..., Any]) -> str:
    """Return the expression that ``rule``, a lambda, returns; "" when its source is not at hand.

    >>> rule_text(lambda g, y: g * y)
    'g * y'
    """
    span = _body_span(rule.__code__)
    if span is None:
        return ""
    first_line, first_column, last_line, last_column = span
    lines = [
        linecache.getline(rule.__code__.co_filename, number).encode()
        for number in range(first_line, last_line + 1)
    ]
    if not all(lines):
        return ""
    # columns count bytes of UTF-8; the end is cut first, as both may lie on one line
    lines[-1] = lines[-1][:last_column]
    lines[0] = lines[0][first_column:]
    text = " ".join(" ".join(line.decode().split()) for line in lines).strip()
    return _AT_BRACKET.sub(r"\1\2", text)


def _body_span(code: CodeType) -> tuple[int, int, int, int] | None:
    """Return the smallest stretch of source that holds all of the body's instructions."""
    starts: list[tuple[int, int]] = []
    ends: list[tuple[int, int]] = []
    for line, end_line, column, end_column in code.co_positions():
        if None in (line, end_line, column, end_column) or (column == 0 and end_column == 0):
            continue
        starts.append((line, column))  # type: ignore[arg-type]
        ends.append((end_line, end_column))  # type: ignore[arg-type]
    if not starts:
        return None
    return (*min(starts), *max(ends))
