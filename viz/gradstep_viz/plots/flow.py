"""Gradient flow: the size of the gradient of each leaf in a few calls, from the first layer to the
last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from gradstep.graph.statistics import Statistics
from gradstep.recording.facts import CallFacts
from gradstep.recording.run import Run
from gradstep_viz.plots.rows import Row
from gradstep_viz.plots.sizes import Size, size_of

MOST_LINES: Final = 5


class FlowPoint(NamedTuple):
    """The elements of ``.grad`` of a leaf by their size: the root mean square, the least and the
    greatest; None where that is not known."""

    row: int
    leaf: int
    size: Size
    least: float | None
    greatest: float | None


@dataclass(frozen=True)
class FlowLine:
    """The gradient flow in one call."""

    call: CallFacts
    points: tuple[FlowPoint, ...]


def flow_of(run: Run, rows: Sequence[Row], calls: Sequence[CallFacts]) -> list[FlowLine]:
    """Return the gradient flow in each of ``calls``."""
    row_of = {leaf: number for number, row in enumerate(rows) for leaf in row.leaves}
    return [
        FlowLine(
            call,
            tuple(
                sorted(
                    FlowPoint(
                        row_of[facts.leaf], facts.leaf, size_of(facts, "rms"),
                        *extent_of(facts.after),
                    )
                    for facts in run.of_leaves(call.index)
                    if facts.leaf in row_of
                )
            ),
        )
        for call in calls
    ]  # fmt: skip


def extent_of(described: Statistics | None) -> tuple[float | None, float | None]:
    """Return the sizes of the least and the greatest of the finite elements.

    The least is unknown where there are elements of both signs and none is 0: of those, statistics
    tell only the ends.

    >>> extent_of(Statistics(2, 3.5, 3.0, 4.0, 0, 0, 0))
    (3.0, 4.0)
    >>> extent_of(Statistics(2, 3.5, -3.0, 4.0, 0, 0, 0))
    (None, 4.0)
    """
    if described is None or described.size == described.nans + described.infs:
        return None, None
    low, high = described.minimum, described.maximum
    greatest = max(abs(low), abs(high))
    if described.zeros:
        return 0.0, greatest
    return (None if low < 0 < high else min(abs(low), abs(high))), greatest


def some_of(recorded: Sequence[int]) -> list[int]:
    """Choose calls that stand for a run: the first, one in the middle, and the last; of few, all.

    >>> some_of(range(1, 501))
    [1, 250, 500]
    """
    if len(recorded) <= MOST_LINES:
        return [*recorded]
    return [recorded[place] for place in (0, (len(recorded) - 1) // 2, -1)]
