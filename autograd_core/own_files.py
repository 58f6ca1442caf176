"""Tell this library's own frames from the user's, and warn of the user's line."""

from __future__ import annotations

import os
import sys
import warnings

_own: tuple[str, ...] = (
    "<op ",  # code that is generated when an op first runs
    os.path.join(os.path.dirname(os.path.realpath(__file__)), ""),
)


def hide_files(*beginnings: str) -> None:
    """Count files whose names begin so as this library's own.

    For tools that call the library in the user's place.
    """
    global _own
    _own = tuple(dict.fromkeys((*_own, *beginnings)))


def is_own_file(file: str) -> bool:
    """Return whether ``file``, as a frame or a traceback names it, is this library's own.

    >>> is_own_file(__file__), is_own_file("train.py")
    (True, False)
    """
    return file.startswith(_own)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the line that called into this library, however many calls that is away.

    (From Python 3.12 on, ``skip_file_prefixes`` does this.)
    """
    level, frame = 1, sys._getframe()
    while frame.f_back and is_own_file(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
