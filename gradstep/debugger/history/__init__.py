"""The recording of a pass, within a budget of memory.

Beyond the budget, steps are dropped, and recomputed when somebody asks: from a checkpoint (the
sums that waited there) by running the nodes again on a pass of their own.  Checkpoints count, too:
where they take half of the budget, every second one goes.  Steps of nodes that
run the user's code, and of leaves, are always kept, with what they changed in the program, even
beyond the budget: going back and forth calls no hook twice.  Nodes that were passed over, which
ran as in a plain pass, count as dropped.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from gradstep.contract.driver import Driver, Pending, Replay
from gradstep.debugger.errors import StepLost
from gradstep.graph.addresses import step_number
from gradstep.guest.collector import give_back_memory
from gradstep.records import Step

if TYPE_CHECKING:
    from gradstep.debugger.snapshot import Usage
    from gradstep.debugger.snapshot.value import Gradient

DEFAULT_BUDGET = 2**30
_MOST_CHECKPOINTS = 256
_SHORT = 8  # steps that run again sooner than a checkpoint is worth it
_FEW_CHECKPOINTS = 4  # which are kept whatever they take
_LEAST_FREED = 1 << 23  # bytes for which it is worth to ask the C library
Amend = Callable[[int, Pending], None]


class _Segment:
    """The steps from one checkpoint to the next; ``pending`` is what waited at its start, which
    takes ``held`` bytes."""

    __slots__ = ("held", "nbytes", "pending", "start")

    def __init__(self, start: int, pending: Pending) -> None:
        self.start = start
        self.pending = pending
        self.held = sum(int(g.nbytes) for g in pending.values())
        self.nbytes = 0  # of steps that can be dropped, and are here


class History:
    """The steps of a pass so far: ``history[index]``, recomputed where it was dropped.

    ``amend(index, pending)`` makes the edits of a user before node ``index``.
    """

    def __init__(self, driver: Driver, budget: int, amend: Amend) -> None:
        self.budget = budget
        self._driver = driver
        self._rerunning, self._control = driver.rerunning, driver.control
        if self._control is not None:
            self._control.halt_within(budget // 8)
        self._amend = amend
        self._steps: list[Step | None] = []
        self._seconds = array("d")
        self._segments = [_Segment(0, _waiting(driver.state.pending))]
        self._bytes = self._fresh_bytes = 0
        self._held = 0  # by checkpoints but the first, which costs nothing
        self._dropped = self._recomputed = 0
        self._freed = 0  # bytes of dropped steps, which the process may still hold
        self._shortest = max(1, len(driver.order) // _MOST_CHECKPOINTS)
        self._due = self._due_bytes = 0  # steps that the driver makes when it is asked

    def __len__(self) -> int:
        return len(self._steps) + self._due

    def _catch_up(self) -> None:
        if self._control is not None:
            self._control.catch_up()

    def __getitem__(self, index: int) -> Step:
        self._catch_up()
        step = self._steps[index]
        if step is None:
            # memory that a thread has freed is had by that thread again; of nodes that run inside
            # a hook, the engine would lose what arrives at the ends of a call of grad
            work = partial(self._recompute, index)
            if self._control is None:
                work()
            else:
                self._control.in_engine_thread(work, halted=False)
            step = self._steps[index]
            assert step is not None
        return step

    def shown(self, index: int) -> Step:
        """Return the step at ``index`` as it was when it ran, whatever was changed in place
        since."""
        return self._driver.undoing.step_when_run(self[index])

    def entered(self, seed: Gradient) -> Gradient:
        """Return a gradient that entered the pass, as it was then."""
        return self._driver.undoing.entered(seed)

    def seconds(self, index: int) -> float | None:
        """Return how long node ``index`` took when it was first recorded, None where that is not
        known."""
        self._catch_up()
        if isnan(self._seconds[index]) and self._steps[index] is None:
            self[index]
        return None if isnan(self._seconds[index]) else self._seconds[index]

    @property
    def usage(self) -> Usage:
        # these records take longer to define than all else here, and pictures need none of them
        from gradstep.debugger.snapshot import Usage

        self._catch_up()
        kept = len(self._steps) - self._dropped
        return Usage(self._bytes + self._held, self.budget, kept, self._dropped, self._recomputed)

    @property
    def _is_full(self) -> bool:
        return self._bytes + self._held > self.budget

    def append(self, step: Step, seconds: float) -> None:
        """Record a step that has just run."""
        self._steps.append(step)
        self._seconds.append(seconds)
        size = self._driver.step_bytes(step)
        self._bytes += size
        self._fresh_bytes += size
        segment = self._segments[-1]
        segment.nbytes += size
        if self._is_full:
            self._make_room(segment)
        apart = len(self._steps) - segment.start
        if self._fresh_bytes > self.budget // 8 and apart >= self._shortest:
            self._add_checkpoint()

    def expect(self, count: int, nbytes: int) -> None:
        """Take note of nodes that have just run, of which :meth:`fill` is told later: at once where
        they take more than there is room for."""
        self._due += count
        self._due_bytes += nbytes
        if self._bytes + self._held + self._due_bytes > self.budget:
            self._catch_up()

    def fill(self, step: Step, seconds: float) -> bool:
        """Record the next one of the steps that are due."""
        self._due -= 1
        self._due_bytes = 0
        self.append(step, seconds)
        return True

    def pass_over(self, count: int) -> None:
        """Take note of nodes that have just run, of which no step was made."""
        self._steps += [None] * count
        self._seconds.extend([nan] * count)
        self._dropped += count
        if len(self._steps) - self._segments[-1].start >= self._shortest:
            self._add_checkpoint()

    def _add_checkpoint(self) -> None:
        segment = _Segment(len(self._steps), _waiting(self._driver.state.pending))
        self._segments.append(segment)
        self._held += segment.held
        self._fresh_bytes = 0
        while self._held > self.budget // 2 and len(self._segments) > _FEW_CHECKPOINTS:
            self._thin_out()

    def _thin_out(self) -> None:
        """Do without every second checkpoint, so that longer stretches run again."""
        kept = self._segments[:1]
        for number, segment in enumerate(self._segments[1:], 1):
            if number % 2 and segment is not self._segments[-1]:
                kept[-1].nbytes += segment.nbytes
                self._held -= segment.held
            else:
                kept.append(segment)
        self._segments = kept

    def truncate(self, length: int) -> None:
        """Forget the steps from ``length`` on."""
        self._catch_up()
        for step in self._steps[length:]:
            if step is None:
                self._dropped -= 1
            else:
                self._bytes -= self._driver.step_bytes(step)
        del self._steps[length:]
        del self._seconds[length:]
        while len(self._segments) > 1 and self._segments[-1].start > length:
            self._held -= self._segments.pop().held
        self._driver.undoing.forget(length)
        last = self._segments[-1]
        last.nbytes = sum(
            self._driver.step_bytes(s) for s in self._steps[last.start :] if s is not None
        )
        self._fresh_bytes = last.nbytes

    def halve(self) -> None:
        """Make do with half of what is used: memory has run out."""
        self.budget = (self._bytes + self._held) // 2
        if self._control is not None:
            self._control.halt_within(self.budget // 8)
        self._make_room(self._segments[-1])

    # dropping and recomputing

    def _make_room(self, needed: _Segment) -> None:
        """Drop steps, those farthest from ``needed`` first."""
        while self._is_full:
            full = [
                segment
                for segment in self._segments
                if segment is not needed and segment.nbytes > 0
            ]
            if not full:
                return
            self._drop(max(full, key=lambda section: abs(section.start - needed.start)))

    def _drop(self, segment: _Segment) -> None:
        for index in range(segment.start, self._end(segment)):
            if self._replays(index):
                self._drop_step(segment, index)
        segment.nbytes = 0

    def _replays(self, index: int) -> bool:
        return self._rerunning is not None and self._rerunning.replays(index)

    def _drop_step(self, segment: _Segment, index: int) -> None:
        step = self._steps[index]
        if step is not None:
            self._steps[index] = None
            size = self._driver.step_bytes(step)
            self._bytes -= size
            segment.nbytes -= size
            self._dropped += 1
            self._freed += size
            if self._freed > max(self.budget // 4, _LEAST_FREED):
                self._freed = 0
                del step
                give_back_memory()

    def _end(self, segment: _Segment) -> int:
        place = self._segments.index(segment) + 1
        return self._segments[place].start if place < len(self._segments) else len(self._steps)

    def _recompute(self, index: int) -> None:
        starts = [segment.start for segment in self._segments]
        segment = self._segments[bisect_right(starts, index) - 1]
        end = self._end(segment)
        assert self._rerunning is not None  # else nothing is dropped
        driver = self._rerunning.fork(dict(segment.pending))
        if self._bytes + self._held > self.budget // 2:  # what comes before is needed next
            for place in range(index + 1, end):
                if self._replays(place):
                    self._drop_step(segment, place)
        origin, halves = segment.start, _halves(segment.start, index)
        near: deque[tuple[_Segment, int]] = deque()  # the steps up to here that can be dropped
        with self._driver.undoing.state_before(segment.start):
            for place in range(segment.start, end):
                if place > index and self._is_full:
                    break
                if place in halves:
                    segment = self._split(segment, place, driver.pending, index)
                    self._forget_checkpoints(origin)
                self._amend(place, driver.pending)
                step = self._steps[place]
                if step is not None:
                    driver.redo(step)
                else:
                    self._record_again(driver, place, segment)
                if self._replays(place):
                    near.append((segment, place))
                if self._is_full:
                    self._make_room(segment)
                while self._is_full and near and near[0][1] < min(place, index):
                    self._drop_step(*near.popleft())

    def _record_again(self, driver: Replay, place: int, segment: _Segment) -> None:
        try:
            driver.record(place, place + 1, partial(self._refill, segment))
        except Exception as error:  # it ran before: the program has changed what it needs
            raise StepLost(
                f"{step_number(place)} ran, but was not kept, and cannot run again "
                f"({type(error).__name__}: {str(error).partition('. Hint: ')[0]}); "
                f"--history 4G keeps more"
            ) from error

    def _split(self, segment: _Segment, place: int, pending: Pending, index: int) -> _Segment:
        """Begin a segment at ``place`` within another one, for the way back from ``index``; what
        lies behind ``index`` makes room for it."""
        second = _Segment(place, _waiting(pending))
        for at in range(place, self._end(segment)):
            step = self._steps[at]
            if step is not None and self._replays(at):
                second.nbytes += self._driver.step_bytes(step)
        segment.nbytes = max(0, segment.nbytes - second.nbytes)
        self._segments.insert(self._segments.index(segment) + 1, second)
        self._held += second.held
        while self._held > self.budget // 2 and self._segments[-1].start > index:
            last = self._segments.pop()
            self._segments[-1].nbytes += last.nbytes
            self._held -= last.held
        return second

    def _forget_checkpoints(self, before: int) -> None:
        """Do without the first checkpoints, up to node ``before``, if there are too many: on the
        way ahead, they lie farthest back."""
        while self._held > self.budget // 2 and len(self._segments) > _FEW_CHECKPOINTS:
            first, second, *_ = self._segments
            if second.start >= before:
                return
            first.nbytes += second.nbytes
            self._held -= second.held
            del self._segments[1]

    def _refill(self, segment: _Segment, step: Step, seconds: float) -> bool:
        self._steps[step.index] = step
        if isnan(self._seconds[step.index]):
            self._seconds[step.index] = seconds
        size = self._driver.step_bytes(step)
        self._bytes += size
        segment.nbytes += size
        self._dropped -= 1
        self._recomputed += 1
        return True


def _halves(start: int, index: int) -> set[int]:
    """Return where checkpoints between two places let the way back from ``index`` be gone with few
    nodes that run again: each in the middle between the one before it and the end.

    >>> sorted(_halves(0, 100))
    [50, 75, 87, 93]
    """
    starts = set()
    while index - start > _SHORT:
        start += (index - start) // 2
        starts.add(start)
    return starts


def _waiting(pending: Pending) -> dict[Any, Any]:
    return {place: g for place, g in pending.items() if g is not None}
