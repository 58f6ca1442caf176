"""In which calls of a program lines and modules are noted: ever fewer, while graphs are alike."""

from __future__ import annotations

from typing import Final

_ALIKE: Final = 8
"""So many calls in a row whose graphs were known from earlier ones are noted before any is not."""


class NotedCalls:
    """Tells which calls to note, by what became of those that were.

    >>> calls = NotedCalls()
    >>> noted = []
    >>> for number in range(1, 100):
    ...     if calls.notes(number):
    ...         noted.append(number)
    ...         calls.ran(number, is_known=number > 1)
    >>> noted
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 19, 34, 65]
    """

    def __init__(self) -> None:
        self._next = 1
        self._alike = 0  # graphs in a row

    def notes(self, number: int) -> bool:
        """Return whether to note call ``number``, counted from 1, of whichever kind."""
        return number >= self._next

    def ran(self, number: int, is_known: bool) -> None:
        """Take note that call ``number`` was noted, and whether a graph as its own was known."""
        self._alike = self._alike + 1 if is_known else 0
        self._next = number + (2 << max(self._alike - _ALIKE + 1, 0)) - 1
