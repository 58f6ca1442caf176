"""How large the gradient of each leaf was in each call, or its last update: what is known, and what
is not."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstep.recording.facts import CallFacts, LeafFacts
from gradstep.recording.run import Run

Ints = NDArray[np.int64]
Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

Measure = Literal["rms", "update"]
"""The root mean square of ``.grad`` when the call ended; that of what the leaf has changed by since
the call before, as a part of that of the leaf."""

BURST: Final = 10.0
BEFORE: Final = 10
FEWEST_BEFORE: Final = 5


class State(IntEnum):
    """What is known of a leaf in a call."""

    UNRECORDED = 0
    """Nothing: the leaves of the call were not recorded."""
    ABSENT = 1
    """The call did not come to the leaf."""
    NONE = 2
    """No gradient arrived, or nobody knows the update."""
    SIZE = 3
    ZERO = 4
    INF = 5
    NAN = 6


class Size(NamedTuple):
    """What is known of a leaf in a call; ``value`` is that of the finite elements, and 0 without
    any."""

    state: State
    value: float = 0.0


def size_of(facts: LeafFacts, measure: Measure) -> Size:
    """Return the size of the gradient of a leaf in one call, or of its update.

    >>> size_of(LeafFacts(0, None, None, parameter_rms=2.0, update_rms=0.5), "update")
    Size(state=<State.SIZE: 3>, value=0.25)
    """
    if measure == "rms":
        gradient = facts.after
        if gradient is None or facts.arrived is False:
            return Size(State.NONE)
        value = gradient.rms if math.isfinite(gradient.rms) else 0.0
        if gradient.trouble:
            return Size(State.NAN if gradient.trouble == "nan" else State.INF, value)
        return Size(State.SIZE if value else State.ZERO, value)
    moved, whole = facts.update_rms, facts.parameter_rms
    if moved is None or whole is None:
        return Size(State.NONE)
    if math.isnan(moved) or math.isnan(whole):
        return Size(State.NAN)
    if not moved:
        return Size(State.ZERO)
    if math.isinf(moved) or math.isinf(whole):
        return Size(State.INF)
    ratio = moved / whole if whole else 0.0
    return Size(State.SIZE, ratio) if ratio else Size(State.NONE)


@dataclass(frozen=True)
class Sizes:
    """Sizes of many leaves in many calls, in columns, in the order of the calls.

    Attributes:
        measure: of what.
        calls, leaves: the index of the call and the number of the leaf.
        lines: which line of the program made the call, as a number.
        states, values: as in :class:`Size`.
        recorded: the indices of the calls whose leaves were recorded.
    """

    measure: Measure
    calls: Ints
    leaves: Ints
    lines: Ints
    states: Ints
    values: Numbers
    recorded: Ints

    def __len__(self) -> int:
        return len(self.calls)

    @cached_property
    def powers(self) -> Numbers:
        """The sizes as powers of ten, -inf of 0."""
        with np.errstate(divide="ignore"):
            return np.log10(self.values)

    @cached_property
    def known(self) -> Flags:
        """Where there is a finite size, 0 included."""
        return np.isin(self.states, (State.SIZE, State.ZERO))

    @cached_property
    def distances(self) -> Numbers:
        """How far each size is from the median of its leaf, in powers of ten."""
        distances = np.zeros(len(self))
        order = np.flatnonzero(self.known)
        order = order[np.lexsort((self.powers[order], self.leaves[order]))]
        for part in equal_neighbours(self.leaves[order]):
            places = order[part]
            powers = self.powers[places]
            median = powers[(len(powers) - 1) // 2]
            same = powers == median  # both may be -inf
            with np.errstate(invalid="ignore"):
                distances[places] = np.where(same, 0.0, np.abs(powers - median))
        return distances

    @cached_property
    def jumps(self) -> Flags:
        """Where a size is ten times the greatest of the ten before it, which the same line of the
        program led to."""
        jumps = np.zeros(len(self), np.bool_)
        order = np.flatnonzero(self.known)
        order = order[np.lexsort((order, self.lines[order], self.leaves[order]))]
        leaves, lines, values = (column[order] for column in (self.leaves, self.lines, self.values))
        greatest, count = np.zeros(len(order)), np.zeros(len(order), np.int64)
        for lag in range(1, min(BEFORE, len(order) - 1) + 1):
            same = (leaves[lag:] == leaves[:-lag]) & (lines[lag:] == lines[:-lag])
            np.maximum(greatest[lag:], np.where(same, values[:-lag], 0), out=greatest[lag:])
            count[lag:] += same
        is_jump = (count >= FEWEST_BEFORE) & (greatest > 0) & (values > BURST * greatest)
        jumps[order[is_jump]] = True
        return jumps


def equal_neighbours(keys: Ints) -> list[slice]:
    """Return the parts of ``keys`` within which all are equal.

    >>> equal_neighbours(np.array([7, 7, 5]))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    if not len(keys):
        return []
    starts = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), len(keys)]
    return [slice(start, end) for start, end in pairwise(starts)]


def has_leaves(call: CallFacts) -> bool:
    """Return whether the leaves of a call were recorded."""
    return call.level != "call" and call.is_finished


def sizes_of(
    run: Run,
    measures: Sequence[Measure],
    calls: Sequence[CallFacts],
    leaves: Collection[int],
    progress: Callable[[int], None] = lambda done: None,
) -> dict[Measure, Sizes]:
    """Read the sizes of some ``leaves``, by their numbers, in some ``calls``.

    ``progress`` hears after how many calls that is.
    """
    wanted = frozenset(leaves)
    columns = {measure: (array("q"), array("d")) for measure in measures}
    at, of, lines = array("q"), array("q"), array("q")
    numbers: dict[object, int] = {}
    recorded = [call for call in calls if has_leaves(call)]
    for done, call in enumerate(recorded):
        line = numbers.setdefault((call.kind, call.line), len(numbers))
        for facts in run.of_leaves(call.index):
            if facts.leaf not in wanted:
                continue
            at.append(call.index)
            of.append(facts.leaf)
            lines.append(line)
            for measure, (states, values) in columns.items():
                state, value = size_of(facts, measure)
                states.append(state)
                values.append(value)
        progress(done + 1)
    indices = np.array([call.index for call in recorded], np.int64)
    return {
        measure: Sizes(
            measure, _ints(at), _ints(of), _ints(lines), _ints(states),
            np.frombuffer(values, np.float64) if values else np.zeros(0), indices,
        )
        for measure, (states, values) in columns.items()
    }  # fmt: skip


def _ints(numbers: array[int]) -> Ints:
    return np.frombuffer(numbers, np.int64) if numbers else np.zeros(0, np.int64)
