"""How tests wait: until something happens, and never for a time that ought to be enough."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

LIMIT: Final = 300  # seconds; only what hangs takes as long, however busy the machine is


def until(happens: Callable[[], T], complaint: Callable[[], str] = lambda: "it hangs") -> T:
    """Wait until ``happens`` returns something true, and return that."""
    end = time.monotonic() + LIMIT
    while not (told := happens()):
        assert time.monotonic() < end, complaint()
        time.sleep(0.02)
    return told


async def until_meanwhile(happens: Callable[[], T], complaint: Callable[[], str]) -> T:
    """As :func:`until`, while other tasks go on."""
    end = time.monotonic() + LIMIT
    while not (told := happens()):
        assert time.monotonic() < end, complaint()
        await asyncio.sleep(0.01)
    return told


def let_pass(seconds: float) -> None:
    """Let time pass, as a slow program does, or who types: nothing may have to happen meanwhile."""
    time.sleep(seconds)
