"""Intercepts a script's calls of ``backward()`` and ``autograd.grad()`` before they run."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from threading import Lock, Thread, current_thread
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from gradstep.capturing import View
from gradstep.capturing.names import Names, caller_names
from gradstep.capturing.saved_values import memory_owners
from gradstep.contract.budget import BUDGET, Budget
from gradstep.contract.driver import Driver, HasRun
from gradstep.contract.interception import asking, listen, stop_listening
from gradstep.contract.lookup import engine_of_call, is_tensor, running_of, stepping_of
from gradstep.contract.tracing import Values, trace
from gradstep.debugger.history.observed_pass import ObservedPass
from gradstep.graph.model import Graph
from gradstep.guest.collector import collector_paused, collector_slowed
from gradstep.guest.fence import answered, carried_out, fenced, is_ours, tell, within_fence
from gradstep.program.errors import BadTarget, ProgramError, ScriptDone
from gradstep.program.noted_calls import NotedCalls
from gradstep.records import BackwardCall, CallKind, Gradients, Passes

T = TypeVar("T")

_KEPT: Final = 3_000_000
"""About so many objects are kept of an observed pass of 100,000 nodes, none of them garbage."""
_AHEAD: Final = 4
"""Calls before one that is requested, in which what it runs on may be made already."""
MANY = 300_000
"""Nodes of a pass beyond which a line on stderr says at its start what a picture will take."""
_RANGE = re.compile(r"(\d+)(?::(\d*))?")
_SPELLING: dict[CallKind, str] = {"backward": "backward()", "grad": "autograd.grad()"}


class CallSelector(NamedTuple):
    """The calls of a script that are requested: number ``number`` of its kind, None for each, or,
    of several, those within one of ``ranges``, first and last number, None for no end.

    ``last`` says that only the last one counts, which is known when the script ends.

    >>> CallSelector(2, ("grad",)).requests(2, "grad")
    True
    >>> CallSelector(2, ("grad",)).requests(2, "backward")
    False
    """

    number: int | None = None
    kinds: tuple[CallKind, ...] = ("backward",)
    ranges: tuple[tuple[int, int | None], ...] = ()
    last: bool = False

    @classmethod
    def parse(cls, text: str) -> CallSelector:
        """Read what ``--call`` takes: ``3``, ``last``, ``all`` or ``1,100:110``.

        >>> CallSelector.parse("grad:3").number, CallSelector.parse("last").last
        (3, True)
        >>> [n for n in range(20) if CallSelector.parse("1,5:7,18:").requests(n, "backward")]
        [1, 5, 6, 7, 18, 19]

        Raises:
            BadTarget: it is something else.
        """
        numbers = text.removeprefix("grad:")
        kinds: tuple[CallKind, ...] = ("grad",) if text.startswith("grad:") else ("backward",)
        if numbers in ("last", "all"):
            return cls(None, kinds, last=numbers == "last")
        if numbers.isdecimal() and int(numbers):
            return cls(int(numbers), kinds)
        matches = [_RANGE.fullmatch(part.strip()) for part in numbers.split(",")]
        ranges = [(int(f[1]), int(f[1] if f[2] is None else f[2] or 0)) for f in matches if f]
        if len(ranges) < len(matches) or any(not first for first, _ in ranges):
            raise BadTarget(
                f"--call {text}: a call is a positive integer, last, all, or numbers and ranges "
                f"such as 1,100:110, optionally after grad:"
            )
        return cls(None, kinds, tuple((first, end or None) for first, end in ranges))

    def requests(self, number: int, kind: CallKind) -> bool:
        """Return whether call ``number`` of ``kind`` is one of them."""
        if kind not in self.kinds or self.number not in (None, number):
            return False
        return not self.ranges or any(
            first <= number and (end is None or number <= end) for first, end in self.ranges
        )

    def is_near(self, number: int) -> bool:
        """Return whether one of the next few calls after ``number`` was requested by its own.

        >>> [number for number in range(1, 9) if CallSelector.parse("7").is_near(number)]
        [3, 4, 5, 6]
        >>> [number for number in range(1, 9) if CallSelector.parse("7:8").is_near(number)]
        [3, 4, 5, 6, 7]
        """
        if self.number is not None:
            return number < self.number <= number + _AHEAD
        return any(
            first <= number + _AHEAD and (end is None or number < end) for first, end in self.ranges
        )

    def is_over(self, number: int) -> bool:
        """Return whether no call after ``number`` can be one of them."""
        if self.number is not None:
            return number >= self.number
        ends = [end for _, end in self.ranges]
        return bool(ends) and all(end is not None and number >= end for end in ends)


def call_title(kind: CallKind, number: int) -> str:
    """Name a call: ``backward() call 2``, ``autograd.grad() call 1``."""
    return f"{_SPELLING[kind]} call {number}"


@dataclass
class InterceptedCall:
    """A call of the script: which one of its kind it is, and what finds the names known there, as
    long as it lasts; and the title of the call whose lines and modules are those of this one, where
    they were not noted; what tells of it where it has run."""

    number: int
    call: BackwardCall
    find_names: Callable[[], Names]
    like: str = ""
    driver: Driver | None = None

    @cached_property
    def names(self) -> Names:
        """These names, which take a while to find."""
        return self.find_names()

    @property
    def title(self) -> str:
        """``backward() call 2``, ``autograd.grad() call 1``."""
        return call_title(self.call.kind, self.number)


def _names_for(call: BackwardCall, others: Mapping[str, Any]) -> Names:
    """Return the names in the program, and those of ``others``; a number without one whose
    ``backward()`` is called is the loss."""
    names = caller_names(others)
    if not call.is_grad and len(call.roots) == 1:
        root = engine_of_call(call).reading.user_tensor(call.roots[0])
        if is_tensor(root) and all(size == 1 for size in root.shape):
            names.add_loss(root)
    return names


Look = Callable[[BackwardCall], Gradients | bool | HasRun | None]
"""Carries out a call before anything is asked about it; None where it is to be handled, or what
tells of it where it is to be handled and has run."""
Handle = Callable[[InterceptedCall], bool | Gradients]
"""Answers as an :class:`~gradstep.records.Interceptor` does."""


class LastCall(Generic[T]):
    """A handler that keeps what ``look`` makes of the last call that ran to its end, in ``made``;
    ``begun`` is the number of the last one that began."""

    def __init__(self, look: Callable[[InterceptedCall], tuple[T, bool | Gradients]]) -> None:
        self._look = look
        self._numbers: list[int] = []
        self.begun = 0
        self.made: T | None = None
        self.failed = ""  # how that call did, where it did
        self._like = ""

    def __call__(self, intercepted: InterceptedCall) -> bool | Gradients:
        self.begun = intercepted.number
        try:
            self.made, answer = self._look(intercepted)
        except BaseException as error:
            ours = is_ours(error)
            self.failed = "could not be shown" if ours else f"raised {type(error).__name__}"
            raise
        self._numbers.append(intercepted.number)
        self._like = intercepted.like
        return answer

    def notes(self, selector: CallSelector) -> list[str]:
        """Say which call was kept, if others were requested, too, and of which one its lines are,
        if not its own."""
        last, count = self._numbers[-1], len(self._numbers)
        notes = [f"lines and modules are those of {self._like}, whose graph is alike"]
        notes = notes if self._like else []
        if last < self.begun:
            return [f"call {self.begun} {self.failed}; this is call {last}", *notes]
        if selector.last or count == 1:
            return notes
        return [f"{count} calls were selected; this is the last one, call {last}", *notes]


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
        rests: Callable[[], bool] | None = None,
        variables: Mapping[str, Any] = MappingProxyType({}),
        describes: bool = False,
    ) -> None:
        by_number = requested.number is not None or bool(requested.ranges)
        self._describes = True if describes and by_number else None  # the values of ops
        self._process = os.getpid()
        self._variables = variables
        self._handle = handle
        self._look = look
        self._passing = getattr(look, "passing", None)
        self._requested = requested
        self._ours: tuple[type[Exception], ...] = (ProgramError, *ours)
        self.counts: Counter[CallKind] = Counter()
        self.handled = 0
        self._noted = None if rests is None else NotedCalls()
        self._rests = rests
        self._kind: CallKind = "backward"  # of the last call
        self._number = 0  # of it, among all
        self._is_requested = False
        self._is_resting = False  # lines and modules are not noted
        self.done = False
        self.told_of_thread = False
        self.failure: Exception | None = None

    def __call__(self, call: BackwardCall) -> bool | Gradients:
        if self.requests(call.kind):
            return self.handle(call)
        engine_of_call(call).settle_trace()
        with asking(None):  # a backward within this one is not the script's
            result = running_of(call).run(call)
        return result if call.is_grad else True

    def requests(self, kind: CallKind, roots: Sequence[Any] = ()) -> bool | Passes:
        """Count a call from ``roots``; return whether it is to be handed to :meth:`handle`, or what
        carries it out where nobody needs to see it.

        Raises:
            ScriptDone: the script is to end.
        """
        if os.getpid() != self._process:  # forked, as the workers of a DataLoader are
            return False
        if self.done:
            raise ScriptDone
        self.counts[kind] += 1
        self._number += 1
        with within_fence("a call"):
            number, self._kind = self.counts[kind], kind
            self._is_requested = self._requested.requests(number, kind)
            if self._passing is not None and roots:
                passes: Passes | None = self._passing(kind, roots)
                if passes is not None:
                    return passes
            is_wanted = self._is_requested or self._is_noted()
            return is_wanted or self._describes not in (None, self._is_near())
        return False

    @property
    @fenced("the title of a call", "a call")
    def _title(self) -> str:
        """The title of the last call."""
        return call_title(self._kind, self.counts[self._kind])

    def _is_noted(self) -> bool:
        """Return whether lines and modules are noted in this call, or to be in the next one."""
        if self._noted is None:
            return False
        return self._is_near() or self._noted.notes(self._number + 1)

    def _is_near(self) -> bool:
        """Return whether one of the next few calls was requested by its number."""
        return self._requested.is_near(self.counts[self._requested.kinds[0]])

    @fenced("the values of ops")
    def _describe_near(self, call: BackwardCall) -> None:
        """Have values described only ahead of calls that were requested by their numbers."""
        tracing = engine_of_call(call).tracing
        if tracing is not None:
            self._describes = self._is_near()
            tracing.describe_ops(on=self._describes)

    @fenced("lines and modules")
    def _prepare(self, call: BackwardCall, *, is_shown: bool) -> None:
        """Keep the lines and modules of a call for later ones, and have those of the next call
        noted if it may be shown, or kept."""
        is_noted = is_shown or self._is_noted()
        if self._noted is None or self._rests is None or (self._is_resting and not is_noted):
            return
        engine = engine_of_call(call)
        if self._noted.notes(self._number):
            places = engine.places if self._number > 1 else None
            is_known = False if places is None else places.keep_places(call, self._title)
            if is_known is None:
                self._noted = None
                return
            self._noted.ran(self._number, is_known)
        self._is_resting = not is_shown and not self._is_noted() and self._rests()
        if engine.tracing is not None:  # modules may have to wait
            engine.tracing.note_ops(on=not self._is_resting, modules=False)

    def handle(self, call: BackwardCall) -> bool | Gradients:
        """Carry out a call that is requested, or noted, and answer as an interceptor does."""
        self.handled += self._is_requested
        with asking(None):  # as above
            try:
                return answered(call, partial(self._answer, call), self._title, apart=self._ours)
            except ScriptDone:
                self.done = True
                raise
            except self._ours as failure:  # the script must not catch it
                self.done, self.failure = True, failure
                raise ScriptDone from None

    def _answer(self, call: BackwardCall) -> bool | Gradients:
        answer, shows = self._looked(call), False
        if answer is None or isinstance(answer, HasRun):
            engine_of_call(call).settle_trace()
            like = "" if self._noted is None else self._places_from(call)
            driver = None if answer is None else answer.driver
            intercepted = InterceptedCall(
                self.counts[call.kind], call, partial(_names_for, call, self._variables), like,
                driver,
            )  # fmt: skip
            answer, shows = self._handle(intercepted), True
        if answer is False:
            found_gradients = carried_out(partial(running_of(call).run, call))
            answer = found_gradients if call.is_grad else True
        if self._noted is not None:
            self._prepare(call, is_shown=shows)
        if self._describes is not None:
            self._describe_near(call)
        return answer

    def _looked(self, call: BackwardCall) -> bool | Gradients | HasRun | None:
        """Answer a call that nobody wants to see, False where it is still to be made; None of one
        that is to be handled."""
        if not self._is_requested:
            engine_of_call(call).settle_trace()
            return False
        return None if self._look is None else self._look(call)

    @fenced("lines and modules", "")
    def _places_from(self, call: BackwardCall) -> str:
        """Give a call that is shown lines and modules, where these were not noted; return the title
        of the one that they are of, and tell where there is none."""
        places = None if self._noted is None else engine_of_call(call).places
        like = None if places is None else places.take_places(call)
        if like == "":
            number = f"{'grad:' if call.is_grad else ''}{self.counts[call.kind]}"
            tell(
                f"{self._title}: lines and modules were not noted, and no call that was has such a "
                f"graph; --call {number} notes them"
            )
        return like or ""

    def tell_of_thread(self) -> None:
        """Say, once, that a call in another thread is not followed."""
        if not self.told_of_thread and os.getpid() == self._process:
            self.told_of_thread = True
            name = current_thread().name
            tell(f"backward() in the thread {name!r} is not followed, only in the main thread")

    def require_requested(self) -> None:
        """See that the one call that was requested by its number came, in a script that has such.

        Raises:
            ProgramError: it never did.
        """
        number, kind = self._requested.number, self._requested.kinds[0]
        count = self.counts[kind]
        if number is None or number <= count or (kind == "backward" and not count):
            return
        prefix = "" if kind == "backward" else f"{kind}:"
        times = {0: "never called {}", 1: "called {} once"}.get(count, f"called {{}} {count} times")
        takes = f"--call takes {prefix}1 to {prefix}{count}"
        raise ProgramError(
            f"the script {times.format(_SPELLING[kind])}: there is no call {prefix}{number}",
            remedy=takes if count > 1 else "omit --call",
        )


_followed: Final[list[Thread]] = []
"""The one thread whose calls are followed, once for each that asks for it: what PyTorch is told to
ask is one for the whole process, and comes and goes in order."""


def _follow(thread: Thread) -> bool:
    """Follow the calls of a thread, unless those of another one are: then tell, return False."""
    with _begins:
        if not _followed or _followed[-1] is thread:
            _followed.append(thread)
            return True
    tell(
        f"backward() in the thread {thread.name!r} is not followed, for that of "
        f"{_followed[-1].name!r} is"
    )
    return False


_begins: Final = Lock()


@contextmanager
def intercepting(
    handle: Handle,
    requested: CallSelector,
    *,
    values: Values = False,
    budget: Budget | None = None,
    ours: tuple[type[Exception], ...] = (),
    look: Look | None = None,
    defers: bool = False,
    lines: bool = True,
    rests: Callable[[], bool] | None = None,
    variables: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[Calls]:
    """Trace, and hand each call that is ``requested`` to ``handle``; see :class:`Calls`.

    ``values``, ``budget``, ``defers`` and ``lines`` are as for :func:`~gradstep.trace`;
    ``look`` may carry out a call first.  ``variables`` are objects of the program that its frames
    may not have, by name.  Where lines and modules need not be noted in every call,
    ``rests`` says whether that is so now.

    :class:`ScriptDone` is absorbed here. Where another thread is followed, nothing is handed over.

    Raises:
        Exception: one of ``ours`` that ``handle`` raised.
    """
    calls = Calls(handle, requested, ours, look, rests, variables, describes=bool(values))
    if not _follow(current_thread()):
        with asking(None):
            yield calls
        return
    listen(calls.tell_of_thread)
    try:
        with (
            asking(calls),
            trace(values=values, budget=budget or BUDGET, defers=defers, lines=lines),
        ):
            yield calls
    except ScriptDone:
        pass
    except ProgramError:
        if not calls.done:  # else it only stumbled over its end
            raise
    finally:
        stop_listening(calls.tell_of_thread)
        _followed.pop()
    if calls.failure is not None:
        raise calls.failure


def run_and_capture(intercepted: InterceptedCall, view: View) -> tuple[Graph, bool | Gradients]:
    """Carry out the call; its graph with the gradients that flowed, and what to answer."""
    return run_and_read(intercepted, view, lambda graph: graph, lazy=False)


def run_and_keep(
    intercepted: InterceptedCall, view: View
) -> tuple[Callable[[], Graph], bool | Gradients]:
    """Carry out the call; what makes its graph, where anybody asks for it, and what to answer."""
    call, names = intercepted.call, intercepted.names
    engine = engine_of_call(call)
    names.memory_owners = memory_owners(engine.reading, names.modules.values())  # these may change
    measured = engine.profiling.measuring() if engine.profiling else None
    told_later = stepping_of(call).told_later if measured is None else None
    if told_later is not None and (told := told_later(call)) is not None:
        names.settle()
        return partial(_graph_of, told, call, names, view), True
    with collector_slowed(_KEPT):
        observed = _observed(intercepted)
        with collector_paused():
            make: Callable[[], Graph] = partial(observed.graph, view)
            if not observed.settle():
                make = partial(_itself, observed.graph(view))
                observed.forget()
            observed.release()
    return make, observed.gradients if intercepted.call.is_grad else True


def _graph_of(told: Callable[[], Driver], call: BackwardCall, names: Names, view: View) -> Graph:
    """Return the graph of a call that has run."""
    with collector_paused():
        observed = ObservedPass(call, names, drops=True, driver=told())
        observed.run()
        return observed.graph(view)


def _itself(value: T) -> T:
    return value


def _observed(intercepted: InterceptedCall) -> ObservedPass:
    """Carry out a call, and observe it."""
    with collector_paused():
        observed = ObservedPass(intercepted.call, intercepted.names, drops=True)
    count = len(observed.order)
    if count > MANY:
        cost = "drawing them takes minutes, and 3 KB of memory for each"
        tell(f"{intercepted.title} has {count:,} nodes; {cost}")
    observed.run()
    return observed


def run_and_read(
    intercepted: InterceptedCall, view: View, read: Callable[[Graph], T], *, lazy: bool = True
) -> tuple[T, bool | Gradients]:
    """Carry out the call; what ``read`` makes of its graph with the gradients that flowed, and what
    to answer.  A ``lazy`` graph costs less, can be read by ``read`` only, and is the last one: what
    was traced before is dropped."""
    with collector_slowed(_KEPT):
        observed = _observed(intercepted)
        with collector_paused():  # all that is made from here on is needed up to the end
            graph = observed.graph(view, lazy=lazy)
            observed.forget()  # the graph has what it needs: half of the memory
            if lazy:
                observed.drop_trace()
            answer = read(graph)
            observed.release()
            gradients = observed.gradients if intercepted.call.is_grad else True
            del graph, observed
    return answer, gradients
