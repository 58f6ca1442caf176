"""Catching a script's ``backward()`` calls before they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from autograd_core.autograd.backward import BackwardCall, interceptor, run
from autograd_core.dag.capture import View
from autograd_core.dag.model import Graph
from autograd_core.dag.names import Names, caller_names
from autograd_core.dag.trace import trace
from autograd_core.debug.observed_pass import ObservedPass
from tui.failure import ExitCode, Failure, ScriptDone
from tui.script import our_names


class Intercepted(NamedTuple):
    """A ``backward()`` call of the script: which one it is, and the names known there."""

    number: int
    call: BackwardCall
    names: Names


class Calls:
    """The calls of a script: how many there were so far, and whether to let it go on.

    Each is handed to ``handle``, which says whether it ran it.  Once that raises, the script
    is to end: at this call and, if it does not let itself be ended, at all later ones.
    """

    def __init__(self, handle: Callable[[Intercepted], bool]) -> None:
        self._handle = handle
        self.count = 0
        self.done = False
        self.failure: Exception | None = None

    def __call__(self, call: BackwardCall) -> bool:
        if self.done:
            raise ScriptDone
        if call.is_grad:
            return False
        self.count += 1
        token = interceptor.set(None)  # a backward within this one is none of the script's
        try:
            with our_names():
                handled = self._handle(Intercepted(self.count, call, caller_names()))
            if not handled:
                run(call)
        except ScriptDone:
            self.done = True
            raise
        except (Failure, BrokenPipeError) as failure:  # ours: no business of the script's
            self.done, self.failure = True, failure
            raise ScriptDone from None
        finally:
            interceptor.reset(token)
        return True

    def no_such(self, number: int) -> Failure:
        """What to say when call ``number`` was asked for, and never came."""
        once = self.count == 1
        return Failure(
            f"the script called backward() {'once' if once else f'{self.count} times'}: there is "
            f"no call {number}; "
            + ("leave --call out" if once else f"--call takes 1 to {self.count}"),
            ExitCode.TARGET,
        )


@contextmanager
def intercepting(handle: Callable[[Intercepted], bool], *, values: bool = False) -> Iterator[Calls]:
    """Trace, and hand each ``backward()`` call to ``handle``; see :class:`Calls`.

    ``values`` is as for :func:`~autograd_core.dag.trace.trace`.

    :class:`ScriptDone` is absorbed here.

    Raises:
        Failure, BrokenPipeError: as ``handle`` did.
    """
    calls = Calls(handle)
    token = interceptor.set(calls)
    try:
        with trace(values=values):
            yield calls
    except ScriptDone:
        pass
    except Failure:
        if not calls.done:  # else it only stumbled over its end
            raise
    finally:
        interceptor.reset(token)
    if calls.failure is not None:
        raise calls.failure


def run_and_capture(found: Intercepted, view: View) -> Graph:
    """Carry out the call, and return its graph with the gradients that flowed."""
    observed = ObservedPass(found.call, found.names)
    observed.run()
    graph = observed.graph(view)
    observed.release()
    return graph
