"""Who may take over calls of ``backward`` and ``grad``, of whichever engine."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from gradstep.records import Interceptor

interceptor: Final[ContextVar[Interceptor | None]] = ContextVar(
    "gradstep_interceptor", default=None
)
Listener = Callable[[], None]
"""Told of calls in threads that no interceptor was ever set for: a new thread has none."""

_unheard: Final[list[Listener]] = []
_variables: Final[list[ContextVar[Any]]] = [interceptor]
_listeners: Final[list[list[Listener]]] = [_unheard]
_UNSET: Final[Any] = object()


def add(variable: ContextVar[Any], listeners: list[Listener]) -> None:
    """Note that an engine asks a variable, and tells listeners, of its own; who is asked now is
    asked there, too."""
    if variable not in _variables:
        _variables.append(variable)
        _listeners.append(listeners)
        listeners += _unheard
        if (taker := interceptor.get()) is not None:
            variable.set(taker)


class asking:
    """Within it, ``taker`` is asked about each call, nobody where that is None; no generator, which
    takes as long to enter as a small op."""

    __slots__ = ("_taker", "_tokens")

    def __init__(self, taker: Interceptor | None) -> None:
        self._taker = taker

    def __enter__(self) -> None:
        self._tokens = [variable.set(self._taker) for variable in _variables]

    def __exit__(self, *error: object) -> None:
        count = len(self._tokens)
        for variable, token in zip(_variables, self._tokens, strict=False):
            variable.reset(token)
        for variable in _variables[count:]:  # of an engine that was loaded within it
            variable.set(None)


def listen(listener: Listener) -> None:
    """Have ``listener`` told of calls that cannot be intercepted."""
    for listeners in _listeners:
        listeners.append(listener)


def stop_listening(listener: Listener) -> None:
    """Have it told no more."""
    for listeners in _listeners:
        if listener in listeners:
            listeners.remove(listener)


def tell_if_unheard() -> None:
    """Tell whoever listens of a call in a thread that has no interceptor."""
    if _unheard and interceptor.get(_UNSET) is _UNSET:
        for told in list(_unheard):
            told()
