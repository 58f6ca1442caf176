"""Bytes that copies of values may take, and those that they take."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
BUDGET = 1 << 30  # bytes
SMALL_BUDGET = 1 << 27
"""Of a run all of which is looked at: where activations are large, their copies would double the
memory that it takes."""


class Budget:
    """The bytes of copies that there may be at a time, and those that there are.  With ``reruns``,
    they are for running every op again; else for what was computed with, and for the program's own
    Functions."""

    __slots__ = ("limit", "reruns", "used")

    def __init__(self, limit: int, *, reruns: bool = True) -> None:
        self.limit, self.reruns = limit, reruns
        self.used = 0


class Share:
    """So many bytes of a budget, for as long as it lives."""

    __slots__ = ("_budget", "_nbytes")

    def __init__(self, nbytes: int, budget: Budget) -> None:
        self._nbytes, self._budget = nbytes, budget
        budget.used += nbytes

    def __del__(self) -> None:
        self._budget.used -= self._nbytes


class Copy:
    """An array as it was; it counts against a budget for as long as it lives."""

    __slots__ = ("__weakref__", "_budget", "array")

    def __init__(self, array: Array, budget: Budget) -> None:
        self.array = array.copy()
        self._budget = budget
        budget.used += array.nbytes

    def __del__(self) -> None:
        self._budget.used -= self.array.nbytes
