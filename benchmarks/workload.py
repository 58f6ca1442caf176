"""What a workload of ``core.py`` is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Halves = tuple[Callable[[], Any], Callable[[Any], None]]


class Workload(NamedTuple):
    """``make(library)`` returns the two halves of one step; ``nodes`` is what to divide by.

    ``formula`` is the same for libraries that differentiate functions of arrays: given their
    NumPy, a function and its arguments.  ``by_hand`` is the same in NumPy, its derivative too.
    """

    name: str
    nodes: int
    make: Callable[[Any], Halves]
    formula: Callable[[Any], tuple[Callable[[Any], Any], Any]] | None = None
    by_hand: Callable[[], Halves] | None = None
