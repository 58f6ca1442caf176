"""Python's garbage collector, which would look at a large graph again and again while it grows;
and the C library, which holds memory that was freed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache


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


def give_back_memory() -> None:
    """Have the C library give freed memory back to the system, where it can be asked to: tensors
    that are freed between others leave holes, which glibc keeps."""
    _trim()(0)


@cache
def _trim() -> Callable[[int], object]:
    import ctypes  # few programs need it

    try:
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library
        return int
    return trim
