"""Intercepts a script's calls of ``backward()`` and ``autograd.grad()`` before they run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from autograd_core.autograd.call import BackwardCall, CallKind, Gradients, interceptor, run
from autograd_core.dag.capture import View
from autograd_core.dag.model import Graph
from autograd_core.dag.names import Names, caller_names
from autograd_core.dag.trace import Values, trace
from autograd_core.debug.history.observed_pass import ObservedPass
from autograd_core.engines import engine_of_call
from autograd_core.program.errors import BadTarget, ProgramError, ScriptDone
from autograd_core.program.process import our_names

_SPELLING: dict[CallKind, str] = {"backward": "backward()", "grad": "autograd.grad()"}


class CallSelector(NamedTuple):
    """The calls of a script that are requested: number ``number`` of its kind, None for each.

    >>> CallSelector(2, ("grad",)).requests(2, "grad")
    True
    >>> CallSelector(2, ("grad",)).requests(2, "backward")
    False
    """

    number: int | None = None
    kinds: tuple[CallKind, ...] = ("backward",)

    @classmethod
    def parse(cls, text: str) -> CallSelector:
        """Read what ``--call`` takes; "last" requests each call, of which the last one stays.

        >>> CallSelector.parse("3"), CallSelector.parse("grad:last").number
        (CallSelector(number=3, kinds=('backward',)), None)

        Raises:
            BadTarget: it is something else.
        """
        number = text.removeprefix("grad:")
        kinds: tuple[CallKind, ...] = ("grad",) if text.startswith("grad:") else ("backward",)
        if number == "last":
            return cls(None, kinds)
        if not number.isdecimal() or int(number) == 0:
            raise BadTarget(
                f"--call {text}: a call is a number from 1 on, or last, with or without grad: "
                "before it"
            )
        return cls(int(number), kinds)

    def requests(self, number: int, kind: CallKind) -> bool:
        """Return whether call ``number`` of ``kind`` is one of them."""
        return kind in self.kinds and self.number in (None, number)


def call_title(kind: CallKind, number: int) -> str:
    """Name a call: ``backward() call 2``, ``autograd.grad() call 1``."""
    return f"{_SPELLING[kind]} call {number}"


class InterceptedCall(NamedTuple):
    """A call of the script: which one of its kind it is, and the names known there."""

    number: int
    call: BackwardCall
    names: Names

    @property
    def title(self) -> str:
        """``backward() call 2``, ``autograd.grad() call 1``."""
        return call_title(self.call.kind, self.number)


Look = Callable[[BackwardCall], Gradients | bool | None]
"""Carries out a call before anything is asked about it; None where it is to be handled."""
Handle = Callable[[InterceptedCall], bool | Gradients]
"""Answers as an :class:`~autograd_core.autograd.call.Interceptor` does."""


class Calls:
    """The calls of a script: how many there were so far, and whether to let it go on.

    Those of ``backward()`` and of ``autograd.grad()`` are counted apart.  Each one that is
    ``requested`` is handed to ``handle``.  Once that raises :class:`ScriptDone`, or one of
    ``ours``, the script is to end: at this call and, if it does not let itself be ended, at all
    later ones.
    """

    def __init__(
        self,
        handle: Handle,
        requested: CallSelector,
        ours: tuple[type[Exception], ...],
        look: Look | None = None,
    ) -> None:
        self._process = os.getpid()
        self._handle = handle
        self._look = look
        self._requested = requested
        self._ours: tuple[type[Exception], ...] = (ProgramError, *ours)
        self.counts: Counter[CallKind] = Counter()
        self.handled = 0
        self.done = False
        self.failure: Exception | None = None

    def __call__(self, call: BackwardCall) -> bool | Gradients:
        if self.requests(call.kind):
            return self.handle(call)
        token = interceptor.set(None)  # a backward within this one is not the script's
        try:
            found = run(call)
        finally:
            interceptor.reset(token)
        return found if call.is_grad else True

    def requests(self, kind: CallKind) -> bool:
        """Count a call; return whether it is to be handed to :meth:`handle`.

        Raises:
            ScriptDone: the script is to end.
        """
        if os.getpid() != self._process:  # forked, as the workers of a DataLoader are
            return False
        if self.done:
            raise ScriptDone
        self.counts[kind] += 1
        return self._requested.requests(self.counts[kind], kind)

    def handle(self, call: BackwardCall) -> bool | Gradients:
        """Carry out a call that is requested, and answer as an interceptor does."""
        self.handled += 1
        token = interceptor.set(None)  # as above
        try:
            # names take a while to find, and are not needed where all is well
            if self._look is not None and (looked := self._look(call)) is not None:
                return looked
            with our_names():
                found = InterceptedCall(self.counts[call.kind], call, caller_names())
                answer = self._handle(found)
            if answer is not False:
                return answer
            found_gradients = engine_of_call(call).run(call)
        except ScriptDone:
            self.done = True
            raise
        except self._ours as failure:  # the script must not catch it
            self.done, self.failure = True, failure
            raise ScriptDone from None
        finally:
            interceptor.reset(token)
        return found_gradients if call.is_grad else True

    def require_requested(self) -> None:
        """See that the one call that was requested by its number came, in a script that has such.

        Raises:
            ProgramError: it never did.
        """
        number, (kind, *_) = self._requested
        count = self.counts[kind]
        if number is None or number <= count or (kind == "backward" and not count):
            return
        prefix = "" if kind == "backward" else f"{kind}:"
        times = {0: "never called {}", 1: "called {} once"}.get(count, f"called {{}} {count} times")
        takes = f"--call takes {prefix}1 to {prefix}{count}"
        raise ProgramError(
            f"the script {times.format(_SPELLING[kind])}: there is no call {prefix}{number}",
            remedy=takes if count > 1 else "leave --call out",
        )


@contextmanager
def intercepting(
    handle: Handle,
    requested: CallSelector,
    *,
    values: Values = False,
    ours: tuple[type[Exception], ...] = (),
    look: Look | None = None,
) -> Iterator[Calls]:
    """Trace, and hand each call that is ``requested`` to ``handle``; see :class:`Calls`.

    ``values`` is as for :func:`~autograd_core.dag.trace.trace`; ``look`` may carry out a call
    first.

    :class:`ScriptDone` is absorbed here.

    Raises:
        Exception: one of ``ours`` that ``handle`` raised.
    """
    calls = Calls(handle, requested, ours, look)
    token = interceptor.set(calls)
    try:
        with trace(values=values):
            yield calls
    except ScriptDone:
        pass
    except ProgramError:
        if not calls.done:  # else it only stumbled over its end
            raise
    finally:
        interceptor.reset(token)
    if calls.failure is not None:
        raise calls.failure


def run_and_capture(found: InterceptedCall, view: View) -> tuple[Graph, bool | Gradients]:
    """Carry out the call; its graph with the gradients that flowed, and what to answer."""
    observed = ObservedPass(found.call, found.names)
    observed.run()
    graph = observed.graph(view)
    observed.release()
    return graph, observed.gradients if found.call.is_grad else True
