"""Which calls of a run are recorded, and how much of each.

A full call tells everything, and costs about as much as the call itself; one of the leaves costs
little. So the first calls are kept in full, then ever fewer, and always the newest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import Final, NamedTuple

from gradstep.recording.facts import Level
from gradstep.records import CallKind

FIRST: Final = 5
"""Calls of a run that are kept in full, whatever follows."""
DESCRIBED: Final = 32
"""Calls of a run whose leaves are described, whatever follows."""
IN_A_ROW: Final = 4
"""Calls in a row whose leaves are described, from then on: what a step does shows in two."""
GAP: Final = 8
"""A run has one call in so many, at least, behind the last ones whose leaves are described."""
AROUND: Final = 6e-5
"""Seconds that a call and the step around it take longer where nobody can measure it: modules and
optimizers that are followed, and the way from the program to whoever watches."""
LARGE: Final = 1000
"""Nodes of a graph beyond which also of the first calls only those are kept in full whose number is
a power of two: one of them takes as long as many plain ones."""
BUDGET: Final = 1.1
"""What a run may take that is recorded, as a multiple of what it takes otherwise."""


_ENOUGH, _OF_LATE = 5, 30
"""At least and at most so many steps tell what one takes plainly."""


class Wanted(NamedTuple):
    """How much to keep of a call; one that is ``passing`` is kept in full until another is."""

    level: Level
    passing: bool = False


@dataclass(frozen=True, slots=True)
class Schedule:
    """How much to keep of which call.

    Attributes:
        full: the level of a call in full; ``leaves`` keeps none in full.
        requests: which calls to keep in full; by default the first five, then those whose number
            is a power of two, 8, 16, 32, ...
        every: keep each call in full whose number is a multiple of it; 0 is none.
        last: keep the last call in full; with ``budget``, the last one for which that left time.
        budget: what the run may take, as a multiple of what it takes plainly; None has no bound.
            Calls that were asked for are kept, whatever they take.

    >>> schedule = Schedule()
    >>> [number for number in range(1, 100) if schedule.requires(number)]
    [1, 2, 3, 4, 5, 8, 16, 32, 64]
    """

    full: Level = "stats"
    requests: Callable[[int, CallKind], bool] | None = None
    every: int = 0
    last: bool = True
    budget: float | None = BUDGET

    def requires(self, number: int, kind: CallKind = "backward") -> bool:
        """Return whether call ``number`` of its kind is kept in full, whatever that takes."""
        if self.full in ("call", "leaves"):
            return False
        if self.every and number % self.every == 0:
            return True
        if self.requests is not None:
            return self.requests(number, kind)
        return not self.every and (number <= FIRST or is_power_of_two(number))


def is_power_of_two(number: int) -> bool:
    """Return whether a positive number is a power of two.

    >>> [number for number in range(1, 20) if is_power_of_two(number)]
    [1, 2, 4, 8, 16]
    """
    return number & (number - 1) == 0


class Account:
    """Weighs what watching takes against what the run takes, and chooses accordingly."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.nodes = 0  # of the newest call in full
        self._ran = self._spent = 0.0
        self._traced = self._steps_traced = 0.0  # what steps took of which ops were described
        self._plain: deque[float] = deque(maxlen=_OF_LATE)  # what the others took, of late
        self._newest = 0.0  # what the newest call of a kind took
        self._of_leaves = 0.0  # what one with its leaves took, of late
        self._described = 0  # calls in a row
        self._left_out = 0  # calls since then
        self._calls = 0

    def ran(self, seconds: float, *, traced: bool = False) -> None:
        """Take note that the run took ``seconds`` from one call to the next; where its ops were
        ``traced``, what that takes longer than other steps of late is spent."""
        if traced:
            self._traced, self._steps_traced = self._traced + seconds, self._steps_traced + 1
            return
        self._ran += seconds
        self._plain.append(seconds)

    def spent(self, level: Level, seconds: float) -> None:
        """Take note that watching a call took ``seconds`` more than the call."""
        self._spent += seconds + AROUND
        self._calls += 1
        self._described = 0 if level == "call" else self._described + 1
        self._left_out = self._left_out + 1 if level == "call" else 0
        if level in ("stats", "all"):
            self._newest = seconds
        elif level == "leaves":
            before = self._of_leaves
            self._of_leaves = seconds if not before else 0.9 * before + 0.1 * seconds

    def requires(self, number: int, kind: CallKind = "backward") -> bool:
        """Return whether call ``number`` of its kind is kept in full, whatever that takes.

        >>> account = Account(Schedule())
        >>> account.nodes = 100_000
        >>> [number for number in range(1, 100) if account.requires(number)]
        [1, 2, 4, 8, 16, 32, 64]
        """
        schedule = self.schedule
        is_usual = schedule.requests is None and not schedule.every
        if is_usual and self.nodes > LARGE and not is_power_of_two(number):
            return False
        return schedule.requires(number, kind)

    def wanted(self, number: int, kind: CallKind = "backward") -> Wanted:
        """Return how much to keep of call ``number`` of its kind, which is the next one."""
        schedule = self.schedule
        if self.requires(number, kind):
            return Wanted(schedule.full)
        if schedule.last and schedule.full in ("stats", "all") and self._affords(self._newest):
            return Wanted(schedule.full, passing=True)
        return Wanted(self.wanted_leaves())

    def wanted_leaves(self) -> Level:
        """Return how much to keep of the next call where that is not in full: its leaves, too,
        where there is time for those of some that come with it."""
        is_described = (
            self._calls < DESCRIBED
            or self._described % IN_A_ROW > 0
            or self._left_out * GAP >= self._calls
            or self._affords(IN_A_ROW * self._of_leaves)
        )
        return "leaves" if is_described else "call"

    def _affords(self, seconds: float) -> bool:
        budget = self.schedule.budget
        if budget is None:
            return True
        if self._spent + seconds > (budget - 1) * (self._ran + self._traced):
            return False  # whatever a step takes plainly
        steps, own = self._steps_traced, 0.0
        if len(self._plain) >= _ENOUGH:  # nearly all of them: one may have been a validation
            usual = fmean(sorted(self._plain)[: int(0.9 * len(self._plain))])
            own = min(steps * usual, self._traced)
        spent = self._spent + seconds + (self._traced - own) * (1 + 1 / max(steps, 1))
        return spent <= (budget - 1) * (self._ran + own)
