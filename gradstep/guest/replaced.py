"""Functions of ours in the place of a library's, for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import getattr_static
from typing import Any, Final


class Replaced:
    """A function of ours in the place of the ``usual`` one of a library, until it is taken away.

    Where the program has put another there by then, that one stays, and calls ours. Several of ours
    may be taken away in any order: coroutines take turns.
    """

    def __init__(self, owner: Any, name: str, ours: Any, usual: Any = None) -> None:
        self._owner, self._name, self._ours = owner, name, ours
        self._usual = getattr_static(owner, name) if usual is None else usual
        self._is_own = name in vars(owner)
        setattr(owner, name, ours)
        _there.append(self)

    def take_away(self) -> bool:
        """Take ours away; return whether it was there."""
        if self in _there:
            _there.remove(self)
        if vars(self._owner).get(self._name) is not self._ours:
            for other in _there:
                if other._owner is self._owner and other._usual is self._ours:
                    other._usual, other._is_own = self._usual, self._is_own
            return False
        if self._is_own:
            setattr(self._owner, self._name, self._usual)
        else:
            delattr(self._owner, self._name)
        return True

    def put_back(self) -> None:
        """Put ours there again, unless another one was put there meanwhile."""
        if getattr_static(self._owner, self._name) is self._usual:
            setattr(self._owner, self._name, self._ours)
            _there.append(self)


_there: Final[list[Replaced]] = []
"""All that are there."""


@contextmanager
def replaced(owner: Any, name: str, ours: Any, usual: Any = None) -> Iterator[None]:
    """Within it, ``ours`` is in the place of a function of a library; afterwards the ``usual`` one
    is, by default the one that was there."""
    there = Replaced(owner, name, ours, usual)
    try:
        yield
    finally:
        there.take_away()
