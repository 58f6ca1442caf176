"""Python's garbage collector, which would look at a large graph again and again while it grows."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Within it, garbage is not looked for; code of the program's is not to run there."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def collector_slowed() -> Iterator[None]:
    """Within it, garbage is looked for less often: where a large graph grows, and code of the
    program's may run, which may need it."""
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000, 50, 1000)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
