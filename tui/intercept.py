"""Catching a script's calls of ``backward()`` and ``autograd.grad()`` before they run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from autograd_core.autograd.call import BackwardCall, CallKind, Gradients, interceptor, run
from autograd_core.dag.capture import View
from autograd_core.dag.model import Graph
from autograd_core.dag.names import Names, caller_names
from autograd_core.dag.trace import trace
from autograd_core.debug.recording.observed_pass import ObservedPass
from tui.failure import ExitCode, Failure, ScriptDone
from tui.script import our_names
from tui.wanted import WORDS, Wanted, call_title


class Intercepted(NamedTuple):
    """A call of the script: which one of its kind it is, and the names known there."""

    number: int
    call: BackwardCall
    names: Names

    @property
    def title(self) -> str:
        """``backward() call 2``, ``autograd.grad() call 1``."""
        return call_title(self.call.kind, self.number)


Handle = Callable[[Intercepted], bool | Gradients]


class Calls:
    """The calls of a script: how many there were so far, and whether to let it go on.

    Those of ``backward()`` and of ``autograd.grad()`` are counted apart.  Each that is
    ``wanted`` is handed to ``handle``, which answers as an
    :class:`~autograd_core.autograd.call.Interceptor` does.  Once that raises, the script is
    to end: at this call and, if it does not let itself be ended, at all later ones.
    """

    def __init__(self, handle: Handle, wanted: Wanted) -> None:
        self._handle = handle
        self._wanted = wanted
        self.counts: Counter[CallKind] = Counter()
        self.done = False
        self.failure: Exception | None = None

    def __call__(self, call: BackwardCall) -> bool | Gradients:
        if self.done:
            raise ScriptDone
        self.counts[call.kind] += 1
        token = interceptor.set(None)  # a backward within this one is none of the script's
        try:
            answer = self._answer(call, self.counts[call.kind])
            if answer is not False:
                return answer
            found = run(call)
        except ScriptDone:
            self.done = True
            raise
        except (Failure, BrokenPipeError) as failure:  # ours: no business of the script's
            self.done, self.failure = True, failure
            raise ScriptDone from None
        finally:
            interceptor.reset(token)
        return found if call.is_grad else True

    def _answer(self, call: BackwardCall, number: int) -> bool | Gradients:
        if not self._wanted.means(number, call.kind):
            return False
        with our_names():
            return self._handle(Intercepted(number, call, caller_names()))

    def require_wanted(self) -> None:
        """See that the one call that was asked for by its number came, in a script that has such.

        Raises:
            Failure: it never did.
        """
        number, (kind, *_) = self._wanted
        count = self.counts[kind]
        if number is None or number <= count or (kind == "backward" and not count):
            return
        prefix = "" if kind == "backward" else f"{kind}:"
        times = {0: "never called {}", 1: "called {} once"}.get(count, f"called {{}} {count} times")
        takes = f"--call takes {prefix}1 to {prefix}{count}"
        raise Failure(
            f"the script {times.format(WORDS[kind])}: there is no call {prefix}{number}; "
            + (takes if count > 1 else "leave --call out"),
            ExitCode.TARGET,
        )


@contextmanager
def intercepting(handle: Handle, wanted: Wanted, *, values: bool = False) -> Iterator[Calls]:
    """Trace, and hand each call that is ``wanted`` to ``handle``; see :class:`Calls`.

    ``values`` is as for :func:`~autograd_core.dag.trace.trace`.

    :class:`ScriptDone` is absorbed here.

    Raises:
        Failure, BrokenPipeError: as ``handle`` did.
    """
    calls = Calls(handle, wanted)
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


def run_and_capture(found: Intercepted, view: View) -> tuple[Graph, bool | Gradients]:
    """Carry out the call; its graph with the gradients that flowed, and what to answer."""
    observed = ObservedPass(found.call, found.names)
    observed.run()
    graph = observed.graph(view)
    observed.release()
    return graph, observed.gradients if found.call.is_grad else True
