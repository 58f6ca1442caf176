"""Whether passes are measured node by node, of whichever engine: ``gradstep render --profile``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_profiling: ContextVar[bool] = ContextVar("gradstep_profiling", default=False)


@contextmanager
def profiling() -> Iterator[None]:
    """Within it, measure what each node takes.

    >>> with profiling():
    ...     is_profiling()
    True
    """
    token = _profiling.set(True)
    try:
        yield
    finally:
        _profiling.reset(token)


def is_profiling() -> bool:
    """Return whether passes are measured."""
    return _profiling.get()
