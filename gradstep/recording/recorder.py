"""Records what the calls of a program do.

Each call is described before it returns to the program. Of the newest call in full, its
descriptions are kept until there is another.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final, TypeVar, get_args

from gradstep.capturing.frames import calling_source
from gradstep.capturing.names import Names, caller_names
from gradstep.capturing.sources import portable
from gradstep.contract.driver import Driver
from gradstep.contract.events import Passed, noted
from gradstep.contract.lookup import engine_of, numbers_of, running_of
from gradstep.contract.protocol import Engine
from gradstep.graph.model import Source
from gradstep.graph.statistics import Statistics, Trouble
from gradstep.guest.collector import held_memory
from gradstep.guest.fence import carried_out, within_fence
from gradstep.recording.facts import CallFacts, Header, LeafFacts, Level, Warned
from gradstep.recording.look import Look
from gradstep.recording.observing import observe
from gradstep.recording.run import Sink
from gradstep.recording.schedule import Schedule
from gradstep.recording.watcher import FULL, Told, Watcher
from gradstep.records import BackwardCall, CallKind, Gradients, Passes
from gradstep.text import plural

T = TypeVar("T")
_KINDS: Final[tuple[CallKind, ...]] = get_args(CallKind)
_LONGEST: Final = 1 << 20
"""Characters of a file that is kept."""
_MOST: Final = 1000
"""Different warnings that are kept."""


@dataclass(frozen=True, slots=True)
class Flight:
    """Keep the newest calls in memory, and write them when something goes wrong.

    Attributes:
        when: what that is, beside an exception: ``nan`` or ``inf`` in a loss or a gradient.
        keep: how many calls.
    """

    when: Collection[Trouble]
    keep: int = 20


class Recorder(Watcher):
    """Keeps what calls do, as its schedule says; with ``sources``, also the text of files."""

    def __init__(
        self,
        sink: Sink,
        header: Header,
        schedule: Schedule,
        flight: Flight | None = None,
        *,
        folder: Path | None = None,
        sources: bool = True,
        names: Callable[[], Names] = caller_names,
    ) -> None:
        if flight is not None and schedule.requests is None:  # most would never be written
            schedule = replace(schedule, requests=lambda number, kind: False, last=False)
        super().__init__(sink, schedule, folder=folder, names=names)
        self._header, self._flight = header, flight
        self._sources: set[str] | None = set() if sources else None
        self._known: dict[int, str] = {}
        self._structures: set[str] = set()
        self._warned: set[Warned] = set()
        self._is_passing = False  # the call that runs is in full until there is another
        self._newest: Told | None = None  # such a call
        self._ring: deque[Told] = deque(maxlen=1 if flight is None else flight.keep)
        self._was_troubled = self._has_met = False
        self._following: dict[CallKind, Level] = {}  # of the next call of each kind
        self._is_noted = True  # lines and modules are, since the last call
        self.is_over = False

    def passing(self, kind: CallKind, roots: Sequence[Any]) -> Passes | None:
        """Return what carries out a call of which only the loss and the time are kept, None where
        more is."""
        if self._following.get(kind) != "call" or len(roots) > 1:
            return None
        line = calling_source(sys._getframe(2))
        if line not in self._came_to and noted.get() is not None:
            return None
        return lambda run: self._watch(partial(self._let_pass, kind, roots[0], line, run))

    def _let_pass(self, kind: CallKind, root: Any, line: Source | None, run: Callable[[], T]) -> T:
        """Let a call run, and keep its loss and its time."""
        entered, began = process_time(), perf_counter()
        engine = engine_of((root,))
        running = engine.running or engine.cannot("run a backward pass")
        facts = CallFacts(
            self.index, kind, self.counts[kind], None if line is None else self._source(*line),
            "call", step=self.step, began=began - self._start, is_finished=False,
        )  # fmt: skip
        title = facts.title
        with within_fence(title):
            with running.unseen():
                numbers = engine.numbers or engine.cannot("read numbers")
                loss = numbers.scalar_statistics(root)
            if loss is not None:
                facts = facts._replace(loss=loss.scalar, is_troubled=bool(loss.trouble))
            self._sink.add_begun(facts)
            if (events := self._noting(Passed)) is not None:
                self._note_pass(events, facts, line)
        started, own = perf_counter(), process_time()
        try:
            result = run()
        except BaseException as error:
            self._raised(facts, error)
            raise
        seconds, own = perf_counter() - started, process_time() - own
        with within_fence(title):
            told = facts._replace(seconds=seconds, is_finished=True)
            self._tell(Told(told, (), None))
        self._go_on(engine, "call", entered, own)
        return result

    def _look_at(self, look: Look) -> None:
        engine, facts = look.engine, look.facts
        level, self._is_passing = self._account.wanted(facts.number, facts.kind)
        if not self._is_noted and level in FULL and self._schedule.requests is None:
            # there was no time for it a step ago, or it is the first one of its kind
            level, self._is_passing = self._account.wanted_leaves(), False
        look.facts = facts._replace(level=level)
        if engine.name not in self._header.engines:
            engines = {**self._header.engines, engine.name: engine.version}
            settings = {**self._header.settings, **engine.settings()}
            self._header = replace(self._header, engines=engines, settings=settings)
            self._sink.add_header(self._header)
        if level != "call":
            self._leaves.look_at_rates()

    def _carry_out(self, look: Look) -> bool | Gradients:
        """Carry out a call at its level; where it meets the condition of a flight recorder, in
        full, as a rule by running it again."""
        engine, call, running = look.engine, look.call, running_of(look.call)
        if look.facts.level in FULL:
            return self._in_full(look)
        waits = self._flight is not None and self._schedule.full in FULL
        if waits and not self._was_troubled:
            runs_code = running.may_run_user_code(call)
            if runs_code:  # not twice
                self._describe(look)
            ran = running.carry_out(call, _ran_inside if runs_code else None)
            if ran is not None:
                if ran.error is not None or ran.is_finite():
                    return ran.answer()
                driver = ran.driver()
                self._describe(look)
                return self._in_full(look, driver)
            self._describe(look)
            if self._is_met(look.described):  # only the loss tells before
                return self._in_full(look)
        if self._flight is not None:  # a gradient that is NaN is seen at a leaf
            self._describe(look)
        if call.keep or call.graph:
            engine.settle_trace()
        gradients = carried_out(partial(running.run, call))
        return gradients if call.is_grad else True

    def _is_met(self, loss: Statistics | None) -> bool:
        return self._flight is not None and loss is not None and loss.trouble in self._flight.when

    def _in_full(self, look: Look, driver: Driver | None = None) -> bool | Gradients:
        engine, call, names = look.engine, look.call, look.names
        engine.settle_trace()
        if not call.is_grad and len(call.roots) == 1:
            names.add_loss(engine.reading.user_tensor(call.roots[0]))
        with within_fence("the leaves of a call"), running_of(call).unseen():
            self._leaves.learn(engine, running_of(call).accumulated(call), names)
        observed = look.observed = observe(
            call, names, self._folder, self._known, tensors=self._schedule.full == "all",
            driver=driver,
        )  # fmt: skip
        look.facts = look.facts._replace(level=self._schedule.full)
        return observed.gradients if call.is_grad else True

    def _told(self, look: Look, leaves: Sequence[LeafFacts]) -> Told:
        root, numbers, observed = look.call.roots[0], numbers_of(look.call.roots[0]), look.observed
        described = [look.described, *(leaf.after for leaf in leaves)]
        if observed is not None and observed.gradients:
            described += numbers.all_statistics(observed.gradients)
        troubles = frozenset(
            value.trouble for value in described if value is not None and value.trouble
        )
        facts, memory = look.facts, None
        if facts.level != "call":
            memory = running_of(look.call).memory(look.engine.reading.user_tensor(root))
            memory = held_memory() if memory is None else memory
        facts = facts._replace(loss=look.loss, memory=memory, is_troubled=bool(troubles))
        if observed is None:
            return Told(facts, leaves, None, troubles)
        if observed.left_out:
            self._sink.add_note(
                f"{facts.title}: {observed.left_out} tensors were too many to keep; they are "
                f"described"
            )
        if observed.structure is not None and observed.key not in self._structures:
            self._structures.add(observed.key)
            self._sink.add_structure(observed.structure)
            self._keep_sources(observed.sources)
        self._account.nodes = observed.nodes
        facts = facts._replace(structure=observed.key, roots=observed.roots, nodes=observed.nodes)
        return Told(facts, leaves, observed.flow, troubles)

    def _begin(self, facts: CallFacts) -> None:
        if self._flight is None:
            super()._begin(facts)

    def _tell(self, told: Told) -> None:
        """Tell the sink of a call, now or when something goes wrong."""
        if self._flight is not None:
            self._ring.append(told)
            met = sorted(told.troubles.intersection(self._flight.when))
            if met and not self._was_troubled:
                note = f"{' and '.join(met)} in {told.call.title}; "
                note += f"{plural(len(self._ring), 'call')} kept"
                if told.flow is None and self._schedule.full in FULL:
                    note += f", this one not in full: --call {told.call.number} keeps it so"
                self._sink.add_note(note)
                self.flush()
                self._has_met = True
            self._was_troubled = bool(met)
            return
        if told.flow is not None and self._is_passing and not told.call.is_troubled:
            self._newest = told
            told = told._replace(call=told.call._replace(level="leaves"), flow=None)
        elif told.flow is not None:
            self._newest = None
        super()._tell(told)

    def _raised(self, facts: CallFacts, error: BaseException) -> None:
        super()._raised(facts, error)
        self.flush()

    def _prepare(self, engine: Engine) -> None:
        """Have what runs from here on noted only if the next call may be one in full: ops are
        noted for nothing else."""
        in_full = self._flight is not None and self._schedule.full in FULL
        self._following = {}
        for kind in _KINDS:
            if self.counts[kind] or self._schedule.requests is not None:
                wanted = self._account.wanted(self.counts[kind] + 1, kind)
                in_full = in_full or wanted.level in FULL
                if self._flight is None:
                    self._following[kind] = wanted.level
        if engine.tracing is not None and (in_full or self._is_noted):
            engine.tracing.note_ops(on=in_full, modules=False)
            engine.tracing.describe_ops(on=in_full and self._schedule.full == "all")
        self._is_noted = in_full

    def _keep_sources(self, files: Collection[str]) -> None:
        if self._sources is None:
            return
        for file in sorted(set(files) - self._sources):
            self._sources.add(file)
            text = "".join(linecache.getlines(file))  # as it was when the program began, mostly
            if text and len(text) <= _LONGEST:
                self._sink.add_source(portable(file, self._folder), text)

    def warned(self, category: str, message: str, file: str, line: int) -> None:
        """Take note of a warning of the run."""
        with within_fence("a warning"):
            warning = Warned(self.index, category, message, self._source(file, line))
            if (key := warning._replace(call=0)) not in self._warned and len(self._warned) < _MOST:
                self._warned.add(key)
                self._sink.add_warning(warning)

    def flush(self) -> None:
        """Write what is kept in memory: something has gone wrong, or the run is over."""
        with within_fence("the newest calls"):
            if self._newest is not None:
                told, self._newest = self._newest, None
                assert told.flow is not None
                self._sink.add_flow(told.call, told.flow)
            while self._flight is not None and self._ring:
                self._sink.add_ended(*self._ring.popleft()[:3])

    def end(self, failed: str = "") -> None:
        """Take note that the run is over; ``failed`` says how, where it was not in good order."""
        if self.is_over or os.getpid() != self._process:
            return
        self.is_over = True
        if self._flight is None or failed:
            self.flush()
        with within_fence("the end of a run"):
            if self._flight is not None and not failed:
                conditions = " or ".join(sorted(self._flight.when))
                none = "" if self._has_met else f", and none had {conditions}"
                self._sink.add_note(f"{plural(self.index, 'call')} ran{none}")
            if failed:
                self._sink.add_note(f"the run ended by {failed}")
            self._leaves.end()
            self._keep_sources(self._event_files)
            self._sink.add_end()


def _ran_inside(call: BackwardCall, _: object) -> bool | Gradients:
    """Let a pass run inside another one, which nobody describes."""
    gradients = running_of(call).run(call)
    return gradients if call.is_grad else True
