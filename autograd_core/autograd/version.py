"""Version counters: how often a tensor's memory was changed in place.

A counter is a list, so that views can share it.  Its first element counts; while tracing is
on, each change appends its number and the line of the user's that made it, for errors, lint
and pictures.  All of it dies with the last tensor that has the counter.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from autograd_core.autograd.grad_mode import Line, current_mode

Versions: TypeAlias = list[Any]


def count_change(versions: Versions) -> None:
    """Note one more change."""
    versions[0] += 1
    mode = current_mode()
    if mode is not None and mode.tracer is not None:
        line = mode.tracer.line()
        if line is not None:
            versions.append((versions[0], line))


def changed_at(versions: Versions | None, since: int = 0) -> tuple[Line, ...]:
    """Where changes later than number ``since`` were made, as far as they were traced."""
    return tuple(line for number, line in (versions or [0])[1:] if number > since)
