"""Rows and columns that NumPy broadcasts without copies of them.

Before it computes, NumPy copies what it broadcasts into a buffer of 8,192 elements, unless buffers
are shorter than the rows of the other operand: with a column, that takes half of the time.  NumPy
adds up in pieces what goes through a buffer, by its length, so no such sum belongs where buffers
are short.
"""

from __future__ import annotations

from contextvars import ContextVar, copy_context
from typing import Any, Final

import numpy as np

_LONG: Final = 256  # rows that buffers can be shorter than; to go row by row costs as much below


def _found() -> ContextVar[Any] | None:
    """Return where NumPy keeps how ufuncs run: the variable that changes with it."""
    before = copy_context()
    with np.errstate():
        np.setbufsize(_LONG)
        inside = copy_context()
    changed = [name for name, value in inside.items() if before.get(name) is not value]
    return changed[0] if len(changed) == 1 else None


_settings: Final = _found()
_made: Final[dict[tuple[Any, int], Any]] = {}


class short_buffers:
    """Lets ufuncs work on rows of some length without buffers, or with shorter ones.

    NumPy makes the settings once, from those that they replace: to make them takes 5 us.
    """

    __slots__ = ("_size", "_token")

    def __init__(self, length: int) -> None:
        self._size = _LONG if length >= _LONG else 4 * _LONG

    def __enter__(self) -> None:
        if _settings is not None:
            key = (_settings.get(None), self._size)
            self._token = _settings.set(_made.get(key) or _make(_settings, key))

    def __exit__(self, *error: object) -> None:
        if _settings is not None:
            _settings.reset(self._token)


def _make(settings: ContextVar[Any], key: tuple[Any, int]) -> Any:
    with np.errstate():
        np.setbufsize(key[1])
        buffers = settings.get()
    if len(_made) >= 64:  # of a program with ever new settings
        _made.clear()
    _made[key] = buffers
    return buffers
