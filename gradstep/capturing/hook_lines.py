"""The lines of a program that registered its hooks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import update_wrapper
from types import CodeType
from typing import Any, Final

from gradstep.capturing.frames import user_source
from gradstep.graph.model import Source
from gradstep.guest.fence import fenced

_MOST: Final = 100_000
_lines: Final[dict[tuple[int, int], Source]] = {}
"""By the identity of the table that a hook is in, and its number there."""


def registered_at(table: Mapping[int, Any], number: int) -> Source | None:
    """Return the line that registered hook ``number`` of ``table``, None where it is unknown."""
    return _lines.get((id(table), number))


@contextmanager
def noting_hooks(handle: type, prepare: Callable[[CodeType], None] | None = None) -> Iterator[None]:
    """Within it, note where hooks are registered: each makes a ``handle`` of the library's.

    ``prepare`` is given the code that runs then, too.
    """
    begin: Any = vars(handle)["__init__"]
    if hasattr(begin, "gradstep_notes_hooks"):
        yield
        return

    def noted(self: Any, table: Any, *given: Any, **named: Any) -> None:
        begin(self, table, *given, **named)
        _note(table, self.id)

    update_wrapper(noted, begin)
    noted.gradstep_notes_hooks = True  # type: ignore[attr-defined]
    if prepare is not None:
        prepare(noted.__code__)
    handle.__init__ = noted  # type: ignore[misc]
    try:
        yield
    finally:
        if vars(handle)["__init__"] is noted:  # else who has put another there calls this one
            handle.__init__ = begin  # type: ignore[misc]


@fenced("lines of hooks")
def _note(table: Any, number: int) -> None:
    line = user_source(sys._getframe(2))
    if line is None:
        return
    if len(_lines) >= _MOST:
        for key in list(_lines)[: _MOST // 2]:
            del _lines[key]
    _lines[id(table), number] = line
