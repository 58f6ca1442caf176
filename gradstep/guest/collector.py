"""Python's garbage collector, which would look at a large graph again and again while it grows;
and the C library, which holds memory that was freed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from mmap import PAGESIZE
from typing import Final


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


_BY_OPS: Final = 20 * 700
"""Objects after which garbage is looked for where ops are recorded: for each, about 20 are made
beside the one or two of the program's own, and Python looks after 700."""


def slow_by_ops() -> Callable[[], None]:
    """Have records of ops not count as the program's objects, for which it would be stopped ever
    again; returns what puts back the thresholds, where nobody has set others since."""
    before = first, *others = gc.get_threshold()
    slowed = (first and max(first, _BY_OPS), *others)  # 0 has it look for none
    gc.set_threshold(*slowed)

    def put_back() -> None:
        if gc.get_threshold() == slowed:
            gc.set_threshold(*before)

    return put_back


@contextmanager
def collector_slowed_by_ops() -> Iterator[None]:
    """Within it, garbage is looked for as :func:`slow_by_ops` says."""
    put_back = slow_by_ops()
    try:
        yield
    finally:
        put_back()


def give_back_memory() -> None:
    """Have the C library give freed memory back to the system, where it can be asked to: tensors
    that are freed between others leave holes, which glibc keeps."""
    _trim()(0)


class FreedMemory:
    """Memory of passes that is freed in between what lives, where it is of little use to the
    program: given back if the process holds much more than when that was last done."""

    __slots__ = ("_least",)

    def __init__(self) -> None:
        self._least = 0

    def give_back(self) -> None:
        """Give it back, if it is much."""
        if (held_memory() or 0) > self._least + _MUCH:
            give_back_memory()
            self._least = held_memory() or 0


_OPEN: Final = open  # which the program may replace
_MUCH: Final = 1 << 26  # bytes for which it is worth to ask the C library


def held_memory() -> int | None:
    """Return the bytes of memory that the process holds, None where the system does not tell."""
    try:
        with _OPEN("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * PAGESIZE
    except (OSError, ValueError, IndexError):
        return None


@cache
def _trim() -> Callable[[int], object]:
    import ctypes  # few programs need it

    try:
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library
        return int
    return trim
