"""The position of a session in its pass, and its moves.

What has run is recorded: within the recording, a cursor goes back and forth without calling
code; at its end it runs nodes.  Inside a node it stands between two of its phases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from gradstep.contract.driver import DeferredSteps, Driver, Nested, taken_by
from gradstep.debugger.errors import CommandError, StepLost
from gradstep.debugger.history import History
from gradstep.debugger.history.contributions import PassState
from gradstep.debugger.history.phases import phases_of, show_partly, state_in
from gradstep.debugger.passes.edits import Edits
from gradstep.debugger.snapshot import Phase
from gradstep.graph.addresses import step_number
from gradstep.records import Step

# what a node or the user's hook may raise, to be shown there
RAISED: Final = (Exception, SystemExit)
LONG: Final = 64  # nodes; shorter ways are recorded, as somebody may look at each step


class Cursor:
    """One pass and a position in it.

    ``position`` is the plan index of the node that runs next, ``phase`` how many of its phases
    are over (0 outside a node).  ``error`` is what the node at ``position`` raised.
    """

    def __init__(self, driver: Driver, budget: int) -> None:
        self.driver = driver
        self.edits = Edits(driver)
        self.history = History(driver, budget, self.edits.amend)
        self.length = len(driver.order)
        self.position = 0
        self.phase = 0
        self.phases: tuple[Phase, ...] = ()
        self.error: BaseException | None = None
        self._stop_after_nested = self._stopped = False  # see travel
        self.interrupted = False  # set by another thread, to stop before the next node
        self.is_over = False  # the program goes on: nothing runs any more
        self.records_all = True  # else, on a long way, only what cannot run again

    @property
    def state(self) -> PassState:
        return state_in(self.position, self.phases, self.phase)

    @property
    def reason(self) -> str:
        """The reason for standing here, in words: "interrupted", the phase that is over; "" after a
        node."""
        if self.error is not None:
            hook = f", in its {self.driver.state.failed_in}," if self.driver.state.failed_in else ""
            return f"node {step_number(self.position)}{hook} raised {type(self.error).__name__}"
        if self.interrupted:
            return "interrupted"
        if self.position == self.length:
            return "end of the backward pass"
        if self.phase:
            return self.phases[self.phase - 1].text
        return "" if self.position else "before the first node"

    def travel(self, target: int, *, stop_after_nested: bool = False) -> bool:
        """Go to ``target``, outside of nodes; whether it was reached: a node on the way may raise,
        and another thread may interrupt.  ``stop_after_nested`` ends behind a node inside which
        passes ran.
        """
        self.leave_node()
        self.error, self._stopped = None, False
        self._stop_after_nested = stop_after_nested
        while self.position > target and not self._must_end():
            self._back()
        while self.position < target and not self._must_end():
            if self.position < len(self.history):
                self._again()
            else:
                self._run(self.edits.next_position(self.position, target))
        return self.position == target and self.error is None

    def _must_end(self) -> bool:
        return self.interrupted or self._stopped or self.error is not None

    def _stops_here(self) -> bool:
        """Decide whether to stop where the pass now stands."""
        effects = (
            self.driver.state.effects.get(self.position - 1) if self._stop_after_nested else None
        )
        self._stopped = effects is not None and bool(effects.nested)
        return self._stopped

    def _back(self) -> None:
        step = self.history[self.position - 1]
        self.edits.leave(self.position)
        self.driver.undoing.undo(step)
        self.position -= 1
        self._stops_here()

    def _again(self) -> None:
        self.driver.undoing.redo(self.history[self.position])
        self.position += 1
        self.edits.arrive(self.position)
        self._stops_here()

    def _run(self, stop: int) -> None:
        self._see_that_it_goes_on()
        start = self.position
        try:
            long = stop - start >= LONG
            on_skipped = self._pass if long and not self.records_all else None
            deferred = DeferredSteps(self._expect, self.history.fill)
            looks = self._stop_after_nested or not long
            self.driver.record(start, stop, self._keep, on_skipped, None if looks else deferred)
        except MemoryError as error:
            self.history.halve()
            self.error = error
        except RAISED as error:
            self.error = error
        if self.position > start:
            self.edits.arrive(self.position)

    def _keep(self, step: Step, seconds: float) -> bool:
        self.history.append(step, seconds)
        self.position += 1
        return not self.interrupted and not (self._stop_after_nested and self._stops_here())

    def _expect(self, count: int, nbytes: int) -> bool:
        self.history.expect(count, nbytes)
        self.position += count
        return not self.interrupted

    def _pass(self, count: int) -> bool:
        self.history.pass_over(count)
        self.position += count
        return not self.interrupted

    @contextmanager
    def at(self, position: int) -> Iterator[None]:
        """Within it, the pass stands before node ``position``, which has been reached before, ahead
        of the edits there."""
        here, phase, error = self.position, self.phase, self.error
        self.leave_node()
        self._replay(position)
        self.edits.leave(position)
        try:
            yield
        finally:
            self.edits.arrive(position)
            self._replay(here)
            if phase:
                self._enter()
                self._show(phase)
            self.error = error

    def _replay(self, position: int) -> None:
        while self.position > position:
            self._back()
        while self.position < position:
            self._again()

    # inside a node

    def step(self) -> bool:
        """Go on by one phase, into, through or out of the node that runs next; False if it
        raised, or the pass is over."""
        if self.position == self.length:
            return False
        if not self.phase and not self._enter():
            return False
        self._show(self.phase + 1)
        return True

    def step_back(self) -> bool:
        """Go back by one phase; False at the start of the pass."""
        if self.phase:
            self._show(self.phase - 1)
            return True
        if not self.position:
            return False
        self.error = None
        self._back()
        self._find_phases()
        self._show(len(self.phases) - 1)
        return True

    def _enter(self) -> bool:
        """Have the record of the node that runs next, as if it had not run."""
        self.error = None
        if self.position == len(self.history):
            self._see_that_it_goes_on()
            try:
                self.driver.record(self.position, self.position + 1, self._keep_here)
            except RAISED as error:
                self.error = error
                return False
        self._find_phases()
        return True

    def _see_that_it_goes_on(self) -> None:
        if self.is_over:
            raise CommandError("this pass is over: what ran after its record is not known")

    def _keep_here(self, step: Step, seconds: float) -> bool:
        self.history.append(step, seconds)
        self.driver.undoing.undo(step)
        return True

    def _find_phases(self) -> None:
        self.phases = self.phases_of(self.position)

    def phases_of(self, index: int) -> tuple[Phase, ...]:
        """Return the phases of a node that has run."""
        effects = self.driver.state.effects.get(index)
        with self.driver.undoing.state_before(index):
            return phases_of(self.history.shown(index), effects, self.driver)

    def _show(self, phase: int) -> None:
        step = self.history[self.position]
        self.driver.undoing.undo(step)
        self.phase = phase
        if phase == len(self.phases):
            self.leave_node()
            self._again()
        elif phase:
            inputs = taken_by(step, self.driver.state.places)
            waited = self.driver.state.changed_pending.get(step.index, ())
            show_partly(step, inputs, self.phases, phase, self.driver.state.pending, waited)
            self.driver.undoing.redo_state(step)  # user code runs as a whole
        else:
            self.phases = ()

    def leave_node(self) -> None:
        """Stand before the node whose inside was looked at."""
        if self.phase:
            self.driver.undoing.undo(self.history[self.position])
            self.phase, self.phases = 0, ()

    def nested(self, index: int) -> Sequence[Nested]:
        """Return the passes that were started inside node ``index``; if it raised, up to then."""
        if self.error is not None and index == self.position:
            return self.driver.state.nested
        effects = self.driver.state.effects.get(index)
        return () if effects is None else effects.nested

    # the end

    def run_out(self) -> None:
        """Run what is left, keeping no record of it.

        Raises:
            Exception: whatever a node or a hook raised.
        """
        self.leave_node()
        self.interrupted = False
        try:
            self._reach(len(self.history))
        except StepLost:
            if self.edits:
                raise
            self.position = len(self.history)  # where the engine halts: it needs no record
        while (edited := self.edits.next_position(self.position, self.length)) < self.length:
            self._reach(edited)
        self.driver.run(self.position)
        if self.position < self.length:
            self.edits.arrive(self.length)

    def end(self) -> None:
        """Leave the program's state alone from now on: the pass is over."""
        self.is_over, self.driver.state.read_only = True, "this pass is over"

    def _reach(self, position: int) -> None:
        if not self.travel(max(self.position, position)):
            assert self.error is not None
            raise self.error
