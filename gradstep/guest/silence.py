"""Silence for code of the program's that runs once more."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, cast


@contextmanager
def silence() -> Iterator[None]:
    """Swallow what is printed, and warnings.

    A filter stands in front meanwhile, and Python is not told: after
    :class:`warnings.catch_warnings`, it would show each warning again that it has shown.
    """
    filters = cast("list[Any]", warnings.filters)
    before = filters[:]
    filters.insert(0, ("ignore", None, Warning, None, 0))
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        filters[:] = before
