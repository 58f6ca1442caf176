"""One way to carry out a call of which more may be asked before it returns to the program.

Who looks at a call asks for the lowest level that answers the question:

==========  ========================  ================================
level       by                        what tells of the call
==========  ========================  ================================
plain       ``Running.run``           nothing
watched     ``Running.carry_out``     a :class:`Ran`, before it returns
told later  ``Stepping.told_later``   a driver, at any time
described   ``Stepping.driver``       its Steps, when the pass is over
halting     the same, ``halting``     each Step, before the next node
==========  ========================  ================================

``docs/contributing/calls.rst`` says what each does to the program.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from gradstep.contract.driver import Driver, Nested
from gradstep.records import BackwardCall, Gradients

OnGradients = Callable[[Sequence[Any], Sequence[float | None]], None]
"""Receives some gradients, None of undefined ones, and the norm of each, None of one without
numbers, infinite where that overflows."""
Record = Callable[[Any, list[Nested]], bool | Gradients]
"""Carries out a call that a node makes, and adds what tells of it to the list."""


class Ran(ABC):
    """A call that has run, as it would plainly, but for its graph, which is kept until one of
    :meth:`answer`, :meth:`release` and :meth:`driver` is called.

    Attributes:
        result: what the call returns to the program.
        error: what it raised, and :meth:`answer` will.
        is_whole: whether all gradients were heard of, for which somebody asked.
        runs_again: whether it takes a second run to tell of it.
    """

    result: Any = ()
    error: Exception | None = None
    is_whole = True
    runs_again = False

    def __init__(self, call: BackwardCall) -> None:
        self.call = call

    @abstractmethod
    def _roots(self) -> Iterable[Any]:
        """List the roots that are tensors."""

    @abstractmethod
    def _grads(self) -> Iterable[Any]:
        """List the ``.grad`` of each leaf, as they are now."""

    @abstractmethod
    def is_finite(self) -> bool:
        """Return whether no element of :meth:`values` is NaN or infinite; False where it is in
        doubt."""

    @abstractmethod
    def driver(self) -> Driver | None:
        """Return a driver whose Steps tell of the call, and that lets go of its graph; None of one
        that takes a second run: every ``.grad`` is then as it was before the call."""

    @abstractmethod
    def release(self) -> None:
        """Let the graph be freed, as after the plain call."""

    def made(self) -> list[Any]:
        """List the gradients that the call made."""
        made = self.result if self.call.is_grad else self._grads()
        return [gradient for gradient in made if gradient is not None]

    def values(self) -> Iterator[tuple[str, Any]]:
        """List the loss, and the gradients that the call made: what each is, and the tensor."""
        for root in self._roots():
            yield "the loss", root
        what = "a gradient that it returns" if self.call.is_grad else "the .grad of a leaf"
        for gradient in self.made():
            yield what, gradient

    def answer(self) -> bool | Gradients:
        """Let the graph be freed, and return what answers the call.

        Raises:
            Exception: what the call raised.
        """
        self.release()
        if self.error is not None:
            raise self.error
        return self.result if self.call.is_grad else True
