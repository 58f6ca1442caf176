"""Warnings, said of the user's own line."""

from __future__ import annotations

import sys
import warnings

from autograd_core.own_files import is_own_file


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the line that called into this package, however many calls that is away.

    (From Python 3.12 on, ``skip_file_prefixes`` does this.)
    """
    level, frame = 1, sys._getframe()
    while frame.f_back and is_own_file(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
