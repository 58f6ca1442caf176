"""Pages: a picture that is far too tall goes on in another column, as text in a newspaper does.

A page ends after a row.  What runs on from there into the next row turns: below the page to
the right, up in the space between the pages, and down into the next page from above.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate
from math import sqrt
from typing import NamedTuple

import numpy as np

from gradstep.graph.columns import Ints

TALL = 1440
"""Lower pictures than this stay in one piece: shown whole on a screen they can be read."""

SLIM = 1.4
"""So many times as high as wide a picture may be."""

SHAPE = 1.6
"""How wide a paged picture shall be, for its height: that of a screen."""

SLACK = 0.2
"""How far a page may end from where it would for equal pages, as a part of its height."""

MOST_TURNS = 3
"""So many lines of each half, and one more, may turn into the next page; two more in what would
be a strip, and in a picture of hundreds of rows, which nobody follows by eye, six times as many."""

STRIP = 5

MANY_ROWS = 500
TURN_STEP = 9
TURN_EDGE = 16
GUTTER = 34


class Crossing(NamedTuple):
    """A line that passes the end of a page, at an x that counts as if there were no pages."""

    page: int
    x: float


@dataclass(slots=True)
class Pages:
    """``last_rows`` are the rows that end a page; the last page ends with the picture.

    ``shifts`` says how far each page stands to the right of where it would be without pages,
    ``starts`` where its lines come in, ``ends`` where its lines go out.
    """

    last_rows: list[int]
    of_row: list[int]
    turns: dict[Crossing, int] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    shifts: list[float] = field(default_factory=lambda: [0.0])
    starts: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    rights: list[float] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.last_rows)

    def room(self, page: int) -> float:
        """Return the height that the turning lines take below, and above, the end of a page."""
        return TURN_EDGE + self.counts[page] * TURN_STEP

    def set_turns(self, crossings: Iterable[Crossing], right: float, width: float) -> None:
        """Give every turning line a track, and every page its place.

        The line that is furthest to the right turns first and comes out furthest to the
        right, so that no two of them cross.
        """
        self.counts = [0] * len(self.last_rows)
        for crossing in sorted(set(crossings), key=lambda one: (one.page, -one.x)):
            self.turns[crossing] = self.counts[crossing.page]
            self.counts[crossing.page] += 1
        for page in range(len(self.last_rows)):
            self.rights.append(right + self.shifts[page])
            self.shifts.append(self.shifts[page] + width + GUTTER + self.room(page))

    def turn(self, page: int, x: float) -> list[tuple[float, float]]:
        """Return the four corners of a line that leaves ``page`` at ``x`` and enters the next
        page."""
        nth = self.turns[Crossing(page, x)]
        low = self.ends[page] + TURN_EDGE + nth * TURN_STEP
        high = self.starts[page + 1] + TURN_EDGE + nth * TURN_STEP - self.room(page)
        lane = self.rights[page] + TURN_EDGE + nth * TURN_STEP
        here, there = x + self.shifts[page], x + self.shifts[page + 1]
        return [(here, low), (lane, low), (lane, high), (there, high)]


def choose_pages(
    pitches: Sequence[float],
    width: float,
    halves: int,
    passing: Sequence[int],
    inside: Set[int] = frozenset(),
) -> Pages:
    """End pages where few lines pass, when the picture is far too tall for its width.

    ``pitches`` are the heights of the rows with the channels below them; ``passing`` is how many
    lines pass the end of each. Those ``inside`` a block end no page.
    """
    one_page = Pages([], [0] * len(pitches))
    bottoms = list(accumulate(pitches))
    height = bottoms[-1] if bottoms else 0.0
    if height < max(TALL, SLIM * width):
        return one_page
    count = max(2, round(sqrt(SHAPE * height / (width + GUTTER))))
    most = 1 + MOST_TURNS * halves
    if height > STRIP * width:
        most += 2
    if len(pitches) > MANY_ROWS:
        most *= 6
    last_rows: list[int] = []
    row = 0
    for page in range(1, count):
        ideal, slack = height * page / count, SLACK * height / count
        while row < len(pitches) and bottoms[row] < ideal - slack:
            row += 1
        choices: list[tuple[int, float, int]] = []
        while row < len(pitches) - 1 and (bottoms[row] <= ideal + slack or not choices):
            if row not in inside:
                choices.append((passing[row], abs(bottoms[row] - ideal), row))
            row += 1
        if choices:
            turning, _, best = min(choices)
            if turning > most:
                return one_page
            last_rows.append(best)
    of_row = [0] * len(pitches)
    for last in last_rows:
        of_row[last + 1] = 1
    return Pages(last_rows, list(accumulate(of_row)))


def count_passing(rows: int, firsts: Ints, lasts: Ints) -> list[int]:
    """Count the lines that pass the end of each row, by their first and last rows.

    >>> count_passing(4, np.array([0, 1]), np.array([1, 3]))
    [1, 1, 1, 0]
    """
    change = np.bincount(firsts, minlength=rows) - np.bincount(lasts, minlength=rows)
    passing: list[int] = np.cumsum(change).tolist()
    return passing
