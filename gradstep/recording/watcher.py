"""Watches the calls of a program as they come, and tells a sink what they did.

Nothing of the program is kept but weak references, and copies of its leaves within a bound.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final, NamedTuple, TypeVar
from weakref import ref

from gradstep.capturing.names import Names, caller_names
from gradstep.capturing.sources import portable
from gradstep.contract.events import Event, Events, Leaves, Passed, noted
from gradstep.contract.lookup import engine_of_call, running_of
from gradstep.contract.protocol import Engine
from gradstep.graph.model import Source
from gradstep.graph.statistics import Trouble
from gradstep.guest.collector import FreedMemory
from gradstep.guest.fence import NewFailures, is_ours, within_fence
from gradstep.recording.event_rows import Noted
from gradstep.recording.facts import CallFacts, Flow, LeafFacts, Level
from gradstep.recording.leaves import LeafWatch
from gradstep.recording.look import Look
from gradstep.recording.run import Sink
from gradstep.recording.schedule import Account, Schedule
from gradstep.records import BackwardCall, CallKind, Gradients

T = TypeVar("T")
FULL: Final[tuple[Level, ...]] = ("stats", "all")
"""The levels of a call that is kept in full, or looked at closely."""


class Told(NamedTuple):
    """All that is known of a call that has ended."""

    call: CallFacts
    leaves: Sequence[LeafFacts]
    flow: Flow | None
    troubles: frozenset[Trouble] = frozenset()


class Watcher(ABC):
    """Carries out calls, and tells ``sink`` of them; one for each run.

    The kinds of it say how closely to look at each call, and look: a recorder, which keeps what a
    call does, and that of ``check``, which asks what is wrong with it.

    ``names`` finds the names of the program where a call is made; files are named as seen from
    ``folder``. ``counts`` are those of whoever intercepts the calls: how many there were so far,
    this one too. While a call is watched it ``is_busy``, and then calls ``on_idle``, if there is
    one.
    """

    def __init__(
        self,
        sink: Sink,
        schedule: Schedule,
        *,
        folder: Path | None = None,
        names: Callable[[], Names] = caller_names,
    ) -> None:
        self._folder = Path.cwd() if folder is None else folder
        self._sink, self._schedule, self._names = sink, schedule, names
        self._process = os.getpid()
        self._account = Account(schedule)
        self._memory = FreedMemory()
        self._leaves = LeafWatch(sink)
        self.counts: Counter[CallKind] = Counter()
        self._named: dict[str, str] = {}  # files of the program, as seen from the folder
        self._events: Events | None = None
        self._event_files: set[str] = set()
        self._came_to: dict[Any, Leaves] = {}  # by the line of a call
        self._plain = 0.0  # what a call of late took plainly
        self._start = perf_counter()
        self._left: float | None = None
        self._is_traced = False  # what runs takes longer, as its ops are described
        self.index = self.step = 0
        self.is_busy = False
        self._failures = NewFailures()
        self.on_idle: Callable[[], None] | None = None

    @abstractmethod
    def _look_at(self, look: Look) -> None:
        """Look at a call that is about to run, and set its level."""

    @abstractmethod
    def _carry_out(self, look: Look) -> bool | Gradients:
        """Carry out a call at its level."""

    @abstractmethod
    def _told(self, look: Look, leaves: Sequence[LeafFacts]) -> Told:
        """Return what is known of a call that has ended."""

    @abstractmethod
    def _prepare(self, engine: Engine) -> None:
        """Have noted of what runs from here on what the next call may need."""

    def __call__(self, call: BackwardCall) -> bool | Gradients:
        """Carry out ``call``, as a :data:`~gradstep.program.calls.Look` does."""
        return self._watch(partial(self._carry_out_and_tell, call))

    def _watch(self, carry_out: Callable[[], T]) -> T:
        self.is_busy = True
        self.index = sum(self.counts.values())
        try:
            return carry_out()
        except Exception as error:
            if is_ours(error):
                self._failures.told_soon()
                self._sink.add_incomplete(self.index)
            raise
        finally:
            if self._failures.noted():
                self._sink.add_incomplete(self.index)
            self.is_busy = False
            if self.on_idle is not None:
                self.on_idle()

    def _carry_out_and_tell(self, call: BackwardCall) -> bool | Gradients:
        entered, began = process_time(), perf_counter()  # other programs may run beside this one
        engine = engine_of_call(call)
        running = engine.running or engine.cannot("run a backward pass")
        begun = CallFacts(
            self.index, call.kind, self.counts[call.kind], self._line_of(call), "call",
            step=self.step, began=began - self._start, is_finished=False,
        )  # fmt: skip
        look, title = Look(engine, call, begun, self._names), begun.title
        with within_fence(title), running.unseen():
            self._look_at(look)
        if look.facts.level != "call":
            self._describe(look)
        with within_fence("what happened before a call"), running.unseen():
            if (events := self._noting(Passed)) is not None:
                if call.line not in self._came_to or look.facts.level != "call":
                    self._came_to[call.line] = events.same(frozenset(map(id, look.reached)))
                self._note_pass(events, look.facts, call.line)
                self._note_names(events, look)
        self._begin(look.facts)
        started, own = perf_counter(), process_time()
        try:
            answer = self._carry_out(look)
        except BaseException as error:
            self._raised(look.facts, error)
            raise
        seconds, own = perf_counter() - started, process_time() - own
        look.facts = look.facts._replace(seconds=seconds, is_finished=True)
        leaves: Sequence[LeafFacts] = ()
        if look.leaves is not None:
            with within_fence(f"the leaves of {title}"), running.unseen():
                leaves = self._leaves.after(engine, look.leaves)
        with within_fence(f"what {title} made"), running.unseen():
            self._tell(self._told(look, leaves))
        if look.facts.level == self._schedule.full:
            self._memory.give_back()
        self._go_on(engine, look.facts.level, entered, own)
        return answer

    def _go_on(self, engine: Engine, level: Level, entered: float, seconds: float) -> None:
        """Weigh a call that has ended, and prepare for the next one."""
        self._weigh(level, entered, seconds)
        with within_fence("what comes next"):
            self._prepare(engine)

    def _raised(self, facts: CallFacts, error: BaseException) -> None:
        """Tell of a call that raised."""
        with within_fence("a call that raised"):
            told = facts._replace(error=text_of_error(error))
            self._tell(Told(told, (), None))

    def _noting(self, kind: type[Event]) -> Events | None:
        """Return where what happens is noted, None where events of a kind are not."""
        events = noted.get()
        if events is None or events.is_full(kind):
            return None
        if self._events is not events:
            self._events = events
            self._sink.add_events(Noted(events, self._leaves.number, self._source_of_event))
        return events

    def _note_pass(self, events: Events, facts: CallFacts, line: Any) -> None:
        """Add a call to what happens; one whose leaves are not described comes to those of the call
        before on its line."""
        events.add(Passed, index=facts.index, source=facts.line, leaves=self._came_to[line])

    def _note_names(self, events: Events, look: Look) -> None:
        if look.has_names:
            for things in (look.names.optimizers, look.names.modules):
                for name, thing in things.items():
                    events.call(ref(thing), name)
            events.leaves.update((id(leaf), look.names.of(leaf)) for leaf in look.reached)

    def _source_of_event(self, source: Source) -> Source:
        self._event_files.add(source.file)
        return self._source(*source)

    def _describe(self, look: Look) -> None:
        """Describe the leaves of a call as they are before it runs."""
        if look.leaves is None:
            with within_fence(f"the leaves of {look.facts.title}"), running_of(look.call).unseen():
                look.leaves = self._leaves.before(look.engine, look.call, lambda: look.names)
            if look.leaves is not None and look.facts.level == "call":
                look.facts = look.facts._replace(level="leaves")

    def _begin(self, facts: CallFacts) -> None:
        """Tell the sink that a call begins."""
        self._sink.add_begun(facts)

    def _tell(self, told: Told) -> None:
        """Tell the sink of a call that has ended."""
        self._sink.add_ended(told.call, told.leaves, told.flow)

    def _weigh(self, level: Level, entered: float, seconds: float) -> None:
        """Take note of what the run took since the call before, and what watching this one did."""
        now = process_time()
        if level not in FULL:
            self._plain = seconds
        plain = min(self._plain, seconds)  # unknown at first: too little, rather than too much
        if self._left is not None:  # before the first call, a program imports
            self._account.ran(entered - self._left + plain, traced=self._is_traced)
        self._account.spent(level, now - entered - plain)
        self._left = now

    def _line_of(self, call: BackwardCall) -> Source | None:
        """Return the line that makes a call."""
        return None if call.line is None else self._source(*call.line)

    def _source(self, file: str, line: int) -> Source:
        name = self._named.get(file)
        if name is None:
            name = self._named[file] = portable(file, self._folder)
        return Source(name, line)


def text_of_error(error: BaseException) -> str:
    """Return the class and the message of an error, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]
