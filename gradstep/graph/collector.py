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
def collector_slowed(objects: int = 0) -> Iterator[None]:
    """Within it, garbage is looked for less often: where a large graph grows, and code of the
    program's may run, which may need it; the first time when there are so many new ``objects``."""
    thresholds = gc.get_threshold()
    first = thresholds[0] and max(100_000, thresholds[0], objects)  # 0 has it look for none
    gc.set_threshold(first, 50, 1000)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
