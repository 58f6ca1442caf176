"""Pages: a picture that is far too tall continues in another column, as text in a newspaper does.

A page ends after a row, between two blocks of the program.  What runs on from there ends below the
page in a numbered port, and goes on above a later page in another one with the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gradstep.graph.columns import Ints
from gradstep_viz.picture.geometry import PORT_RADIUS, NumberedPort
from gradstep_viz.picture.model import LineKind

TALL = 1440
"""Lower pictures than this stay in one piece: shown whole on a screen they can be read."""

SLIM = 1.4
"""So many times as high as wide a picture may be."""

SHAPE = 1.6
"""How wide a paged picture shall be, for its height: that of a screen."""

SLACK = 0.2
"""How far a page may end from where it would for equal pages, as a part of its height."""

MOST_PORTS = 3
"""So many lines of each half, and one more, may end in ports below a page; two more in what would
be a strip, and in a picture of hundreds of rows, which nobody follows by eye, six times as many."""

STRIP = 5

MANY_ROWS = 500
PORT_EDGE = 8
PORT_STEP = 2 * PORT_RADIUS + 3
CLOSE = 9
"""Lines that are less far apart, such as parallel ones between two boxes, share a port."""
GUTTER = 34


class Crossing(NamedTuple):
    """A line that runs from page ``start`` into a later one, and where it leaves the one and enters
    the other, each x counted as if there were no pages."""

    start: int
    x: float
    goal: int
    goal_x: float
    kind: LineKind


class _Place(NamedTuple):
    """Where a port stands: above or below a page, so many ``levels`` away from it."""

    page: int
    is_below: bool
    x: float
    level: int


@dataclass(slots=True)
class Pages:
    """``last_rows`` are the rows that end a page; the last page ends with the picture.

    ``shifts`` says how far each page stands to the right of where it would be without pages,
    ``starts`` where its lines come in, ``ends`` where its lines go out.
    """

    last_rows: list[int]
    of_row: list[int]
    shifts: list[float] = field(default_factory=lambda: [0.0])
    starts: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    _crossings: list[Crossing] = field(default_factory=list)
    _places: dict[tuple[int, bool, float], _Place] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.last_rows)

    def set_crossings(self, crossings: Iterable[Crossing], width: float) -> None:
        """Give every page its place, and every line that runs into another one its ports."""
        self.shifts = [(width + GUTTER) * page for page in range(len(self.last_rows) + 1)]
        self._crossings = sorted(set(crossings))
        xs: dict[tuple[int, bool], set[float]] = {}
        for start, x, goal, goal_x, _ in self._crossings:
            xs.setdefault((start, True), set()).add(x)
            xs.setdefault((goal, False), set()).add(goal_x)
        for (page, is_below), some in xs.items():
            for x, port_x, level in _levels(some):
                self._places[page, is_below, x] = _Place(page, is_below, port_x, level)

    def room(self, page: int, *, is_below: bool) -> float:
        """Return the height that the ports above or below a page take."""
        levels = [one.level for one in self._places.values() if one[:2] == (page, is_below)]
        return PORT_EDGE + (1 + max(levels)) * PORT_STEP if levels else 0.0

    def port(self, page: int, x: float, *, is_below: bool) -> tuple[float, float]:
        """Return the place of the port in which a line that passes the end of a page at ``x`` ends
        below that page, or above a later one."""
        return self._point(self._places[page, is_below, x])

    def _point(self, place: _Place) -> tuple[float, float]:
        page, is_below, x, level = place
        away = PORT_EDGE + PORT_RADIUS + level * PORT_STEP
        y = self.ends[page] + away if is_below else self.starts[page] - away
        return x + self.shifts[page], y

    def numbered_ports(self) -> list[NumberedPort]:
        """Return all ports; those of lines that meet in one have one number."""
        groups: dict[_Place, list[_Place]] = {}
        kinds: dict[_Place, LineKind] = {}
        for start, x, goal, goal_x, kind in self._crossings:
            ends = self._places[start, True, x], self._places[goal, False, goal_x]
            kinds |= dict.fromkeys(ends, kind)
            ours, theirs = (groups.setdefault(place, [place]) for place in ends)
            if ours is not theirs:
                ours += theirs
                groups.update(dict.fromkeys(theirs, ours))
        ports: list[NumberedPort] = []
        for number, group in enumerate({id(one): one for one in groups.values()}.values(), 1):
            first = len(ports)
            for place in group:
                other = next(at for at, one in enumerate(group) if one.is_below != place.is_below)
                at = self._point(place)
                ports.append(NumberedPort(*at, kinds[place], number, first + other))
        return ports


def _levels(xs: Iterable[float]) -> Iterable[tuple[float, float, int]]:
    """Yield each x with the x of its port, and how many levels away from the page that stands.

    >>> list(_levels([0, 5, 12, 40]))
    [(0, 0, 0), (5, 0, 0), (12, 12, 1), (40, 40, 0)]
    """
    at, level = -inf, 0
    ends: list[float] = []
    for x in sorted(xs):
        if x - at >= CLOSE:
            free = (number for number, end in enumerate(ends) if x - end >= PORT_STEP)
            at, level = x, next(free, len(ends))
            ends[level : level + 1] = [x]
        yield x, at, level


def choose_pages(
    pitches: Sequence[float],
    width: float,
    halves: int,
    passing: Sequence[int],
    rows_inside: Callable[[], Set[int]] = frozenset,
    count: int | None = None,
) -> Pages:
    """End pages where few lines pass: ``count`` of them, or as many as it takes when the picture is
    far too tall for its width.

    ``pitches`` are the heights of the rows with the channels below them; ``passing`` is how many
    lines pass the end of each. The ``rows_inside`` a block end no page.
    """
    one_page = Pages([], [0] * len(pitches))
    bottoms = list(accumulate(pitches))
    height = bottoms[-1] if bottoms else 0.0
    if count is None:
        if height < max(TALL, SLIM * width):
            return one_page
        count = max(2, round(sqrt(SHAPE * height / (width + GUTTER))))
    inside = rows_inside()
    most = 1 + MOST_PORTS * halves
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
            crossing, _, best = min(choices)
            if crossing > most:
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
