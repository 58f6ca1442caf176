"""The lines of a program that registered its hooks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import update_wrapper
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


def noting_hook(begin: Callable[..., None]) -> Any:
    """Return what begins the handle of a hook as ``begin`` does, and notes the line that registers
    the hook."""
    if hasattr(begin, "gradstep_notes_hooks"):
        return begin

    def noted(self: Any, table: Any, *given: Any, **named: Any) -> None:
        begin(self, table, *given, **named)
        _note(table, self.id)

    update_wrapper(noted, begin)
    noted.gradstep_notes_hooks = True  # type: ignore[attr-defined]
    return noted


@fenced("lines of hooks")
def _note(table: Any, number: int) -> None:
    line = user_source(sys._getframe(2))
    if line is None:
        return
    if len(_lines) >= _MOST:
        for key in list(_lines)[: _MOST // 2]:
            del _lines[key]
    _lines[id(table), number] = line
