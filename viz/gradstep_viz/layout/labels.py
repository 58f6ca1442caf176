"""Labels: beside their line, where nothing else is, and never on another label.

A label stands in a channel, so it never covers a box.  A line that curves is labelled near the
end where it is alone; one that has a lane is labelled beside its straight part.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from math import inf
from typing import NamedTuple

from gradstep.graph.columns import BatchColumn
from gradstep_viz import theme
from gradstep_viz.layout.compaction import HalfColumns
from gradstep_viz.layout.grid import BESIDE, MANY, Grid
from gradstep_viz.layout.paths import Point
from gradstep_viz.layout.ports import Ports
from gradstep_viz.layout.routes import Courses
from gradstep_viz.layout.rows import TRACK_STEP, Rows
from gradstep_viz.layout.tracks import Anchor, Corner, Level, Run
from gradstep_viz.picture import geometry
from gradstep_viz.picture.geometry import Label

BESIDE_CURVE = 10
CLOSE_BESIDE = 3
"""Where another line is near on the other side."""
ABOVE_BOX = 6
APART = 12
HEIGHT = 12
NEAR = 2 * HEIGHT
"""Texts that are no further above each other look like two lines of one label."""
SHIFTS = (0, 13, -13, 26, -26, 39, -39, 52, -52, 65, -65, 78, -78)
ALONG = 12
INTO_GUTTER = 110
"""So far labels of the backward half may reach into the space between the halves."""

MOST_TRIES = 8
"""Along so many channels, next to the middle of a lane, a place for its label is looked for."""

HALO = 3
"""So far around a text its halo of the background would cut other lines."""

CROWDED = 40
"""In channels with more lines than this, labels only keep clear of other labels."""


class Rectangle(NamedTuple):
    """The place of a text."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Rectangle) -> bool:
        """Tell whether two texts would touch, or read as one."""
        return (
            self.left < other.right + APART
            and other.left < self.right + APART
            and self.top < other.bottom
            and other.top < self.bottom
        )


class Piece(NamedTuple):
    """The part of a soft line within one channel: from ``top_x`` above to ``bottom_x`` below."""

    line: int
    top_x: float
    bottom_x: float

    @property
    def is_straight(self) -> bool:
        return abs(self.top_x - self.bottom_x) < 1


class Upright(NamedTuple):
    """An upright part of a square line."""

    x: float
    top: float
    bottom: float


SOFT = 2
"""A text on a soft line disturbs more than one on a square one, which is dotted."""


@dataclass(slots=True)
class Channel:
    """The space below a row: its heights, and what is in it.  ``middle`` is where tracks end."""

    top: float
    middle: float
    bottom: float
    pieces: list[Piece] = field(default_factory=list)
    runs: list[Rectangle] = field(default_factory=list)
    texts: list[Rectangle] = field(default_factory=list)
    uprights: list[Upright] = field(default_factory=list)

    def holds_text(self, place: Rectangle) -> bool:
        return any(place.overlaps(text) for text in self.texts[-CROWDED:])

    def stacks(self, place: Rectangle) -> bool:
        """Tell whether a text would stand close above or below another one, as if both were the
        label of one line."""
        return any(
            place.left < text.right and text.left < place.right
            and place.top < text.bottom + NEAR and text.top - NEAR < place.bottom
            for text in self.texts[-CROWDED:]
        )  # fmt: skip

    def disturbance(self, place: Rectangle, line: int) -> int:
        """Count the lines, other than its own ``line``, that a text at ``place`` would cover."""
        if len(self.pieces) > CROWDED:
            return 0
        level = 0
        if place.top < self.middle:
            level = sum(place.overlaps(run) for run in self.runs)
        return level + self.disturbed_curves(place, line)

    def disturbed_curves(self, place: Rectangle, line: int = -1) -> int:
        """Count, in the same way, those that run down."""
        if len(self.pieces) > CROWDED:
            return 0
        total = sum(
            place.left - 2 < one.x < place.right + 2
            and place.top < one.bottom
            and one.top < place.bottom
            for one in self.uprights
        )
        for piece in self.pieces:
            margin = 0 if piece.line == line else HALO
            left, right = place.left - margin, place.right + margin
            if max(piece.top_x, piece.bottom_x) < left or min(piece.top_x, piece.bottom_x) > right:
                continue
            bottom = place.bottom + (HALO if margin else 0)
            a, b = sorted((self.x_at(piece, place.top), self.x_at(piece, bottom)))
            total += SOFT * (a < right and left < b)
        return total

    def is_of_another(self, place: Rectangle, line: int) -> bool:
        """Tell whether a text would stand nearer to another soft line than to its own."""
        if len(self.pieces) > CROWDED:
            return False

        def gap(piece: Piece, around: float) -> float:
            top, bottom = place.top - around, place.bottom + around
            a, b = sorted((self.x_at(piece, top), self.x_at(piece, bottom)))
            return max(place.left - b, a - place.right)

        own = min((gap(piece, 0) for piece in self.pieces if piece.line == line), default=inf)
        return any(gap(piece, own) < own for piece in self.pieces if piece.line != line)

    def x_at(self, piece: Piece, y: float) -> float:
        """Find where the S-shaped curve of a piece is at height ``y``."""
        share = min(1.0, max(0.0, (y - self.top) / (self.bottom - self.top)))
        step = min(31, max(0, bisect_left(_DOWN, share) - 1))
        part = (share - _DOWN[step]) / (_DOWN[step + 1] - _DOWN[step])
        across = _ACROSS[step] + (_ACROSS[step + 1] - _ACROSS[step]) * part
        return piece.top_x + (piece.bottom_x - piece.top_x) * across


class Candidate(NamedTuple):
    """A place for a label, and how much it would cover there."""

    disturbance: int
    channel: Channel
    label: Label
    place: Rectangle


class Labels(NamedTuple):
    """The place of the label of each line, and the lines whose label stands on another line, or
    nowhere."""

    places: Sequence[Label | None]
    cut: list[int]


_STEPS = [step / 32 for step in range(33)]
_DOWN = [1.5 * t - 1.5 * t * t + t**3 for t in _STEPS]
_ACROSS = [3 * t * t - 2 * t**3 for t in _STEPS]


def label(
    grid: Grid,
    columns: HalfColumns,
    rows: Rows,
    ports: Ports,
    courses: Courses,
    corners: dict[int, list[Corner]],
    tracks: dict[int, int],
) -> Labels:
    """Choose a place for the label of each line; None where there is no label or no room for it."""
    if len(grid.arcs) > MANY:
        return Labels(_labels_of_many(grid, rows, ports, corners), [])
    channels, square = _channels(grid, rows, courses.ways, corners, tracks)
    busy = _busy_ends(grid)
    labels: list[Label | None] = []
    cut: list[int] = []
    for line, data in enumerate(grid.picture.lines):
        if not data.label:
            labels.append(None)
            continue
        placed: Label | None
        if line in corners:
            placed, disturbance = _on_square(grid, rows, square, corners[line], line)
        else:
            way = courses.ways[line]
            placed, disturbance = _on_soft(grid, columns, rows, channels, way, line, busy)
        labels.append(placed)
        if disturbance or placed is None:
            cut.append(line)
    return Labels(labels, cut)


def _labels_of_many(
    grid: Grid, rows: Rows, ports: Ports, corners: dict[int, list[Corner]]
) -> Sequence[Label | None]:
    """Label lines of a picture that nobody sees whole: beside the upper end of each line that
    leaves its box alone, whatever else is there."""
    below = _lines_below(grid)
    shifts = [BESIDE + rows.pages.shifts[page] for page in rows.pages.of_row[1:]]
    heights = [
        round((top + bottom) / 2 + 4)
        for bottom, top in zip(rows.row_bottom, rows.row_top[1:], strict=False)
    ]

    def places(lines: range) -> list[Label | None]:
        uppers, xs = grid.upper[lines.start : lines.stop], ports.upper[lines.start : lines.stop]
        return [
            None
            if below[upper] > 1 or line in corners
            else (x + shifts[row := grid.rows[upper]], heights[row], "start")
            for line, upper, x in zip(lines, uppers, xs, strict=True)
        ]

    return BatchColumn(len(grid.upper), places)


def _lines_below(grid: Grid) -> list[int]:
    """Count the lines of values or gradients that leave each box downwards."""
    count = [0] * len(grid.sizes)
    for box, arc in zip(grid.upper, grid.arcs, strict=True):
        count[box] += arc is not None
    return count


def _channels(
    grid: Grid,
    rows: Rows,
    ways: dict[int, list[Point]],
    corners: dict[int, list[Corner]],
    tracks: dict[int, int],
) -> tuple[list[Channel], list[Channel]]:
    """Make the channels below each row, with the lines that run through them: those for soft lines,
    and those for square lines, which at the end of a page stay on that page."""
    channels = [
        Channel(bottom, bottom + TRACK_STEP * tracks.get(row, 0), next_top)
        for row, (bottom, next_top) in enumerate(
            zip(rows.row_bottom, [*rows.row_top[1:], *rows.row_bottom[-1:]], strict=True)
        )
    ]
    square = channels.copy()
    for row, end in zip(rows.pages.last_rows, rows.pages.ends, strict=True):
        square[row] = Channel(rows.track_top[row], end, end + 1)
    for line, points in ways.items():
        first = grid.rows[grid.upper[line]]
        for index, piece in _pieces(grid, rows, points, line):
            row = first + index
            channels[row].pieces.append(piece)
            if square[row] is not channels[row]:
                x = points[2 * index][0]
                square[row].pieces.append(Piece(line, x, x))
    for way in corners.values():
        for _, level in way:
            if isinstance(level, Anchor) or level.row < 0:
                continue
            channel, y, shift = square[level.row], rows.level(level), rows.shift(level)
            run = Rectangle(level.low + shift, y - HEIGHT, level.high + shift, y + 3)
            if not channel.runs or channel.runs[-1] != run:
                channel.runs.append(run)
        _add_uprights(grid, rows, square, way)
    return channels, square


def _add_uprights(grid: Grid, rows: Rows, channels: list[Channel], way: list[Corner]) -> None:
    """Add the upright parts of a square line to the channels that they run through, or into."""
    for (x, level), (next_x, after) in pairwise(way):
        if x != next_x or rows.shift(level) != rows.shift(after):
            continue
        top, bottom = sorted((rows.level(level), rows.level(after)))
        ends = sorted(_channel_of(grid, end) for end in (level, after))
        upright = Upright(x + rows.shift(level), top, bottom)
        for row in range(max(ends[0] - 1, 0), ends[1] + 1):
            uprights = channels[row].uprights
            if len(uprights) <= CROWDED:
                uprights.append(upright)


def _channel_of(grid: Grid, level: Level) -> int:
    return grid.rows[level.box] if isinstance(level, Anchor) else level.row


def _pieces(grid: Grid, rows: Rows, points: list[Point], line: int) -> list[tuple[int, Piece]]:
    """Return the pieces of a soft line, each with the number of rows above it; a page that the line
    has left has none."""
    of_row, first = rows.pages.of_row, grid.rows[grid.upper[line]]
    ends = of_row[first], of_row[grid.rows[grid.lower[line]]]
    return [
        (index, Piece(line, points[2 * index + 1][0], points[2 * index + 2][0]))
        for index in range(len(points) // 2 - 1)
        if of_row[first + index + 1] in ends
    ]


def _busy_ends(grid: Grid) -> set[int]:
    """Find the lines that leave their upper box in more company than they have at the lower one."""
    below, above = _lines_below(grid), [0] * len(grid.sizes)
    lines = [line for line, arc in enumerate(grid.arcs) if arc is not None]
    for line in lines:
        above[grid.lower[line]] += 1
    return {line for line in lines if below[grid.upper[line]] > above[grid.lower[line]]}


def _on_soft(
    grid: Grid,
    columns: HalfColumns,
    rows: Rows,
    channels: list[Channel],
    points: list[Point],
    line: int,
    busy: set[int],
) -> tuple[Label | None, int]:
    """Choose the first place without text or line; else that without text that covers the least of
    other lines; else none."""
    data = grid.picture.lines[line]
    width = geometry.text_width(data.label, theme.MUTED_SIZE)
    half = grid.picture.boxes[data.source].half
    low, high = columns.extent[half]
    if half == "backward" and len(columns.extent) == 2:
        low -= INTO_GUTTER
    row = grid.rows[grid.upper[line]]

    def candidates() -> Iterator[Candidate]:
        pieces = _pieces(grid, rows, points, line)
        for index, piece, share in _preferences(pieces, line in busy):
            channel = channels[row + index]
            shift = rows.pages.shifts[rows.pages.of_row[row + index + 1]]
            for label, place in _places(piece, share, channel, width):
                inside = low + shift <= place.left and place.right <= high + shift
                if inside and not channel.holds_text(place):
                    covers = channel.disturbance(place, line) + channel.stacks(place)
                    disturbance = 2 * covers + channel.is_of_another(place, line)
                    yield Candidate(disturbance, channel, label, place)

    return _least_disturbing(candidates())


def _least_disturbing(candidates: Iterable[Candidate]) -> tuple[Label | None, int]:
    """Take the first candidate that disturbs nothing, else that which disturbs least; returns how
    much that is."""
    best: Candidate | None = None
    for one in candidates:
        if best is None or one.disturbance < best.disturbance:
            best = one
        if not one.disturbance:
            break
    if best is None:
        return None, 0
    best.channel.texts.append(best.place)
    return best.label, best.disturbance


def _preferences(
    pieces: list[tuple[int, Piece]], busy_above: bool
) -> Iterator[tuple[int, Piece, float]]:
    """List the pieces beside which a label may stand, best first, and how far down in each."""
    straight = [one for one in pieces if one[1].is_straight]
    middle = straight[len(straight) // 2][0] if straight else 0
    for index, piece in sorted(straight, key=lambda one: abs(one[0] - middle))[:MOST_TRIES]:
        yield index, piece, 0.5
    ends = (pieces[0], 0.34), (pieces[-1], 0.72)
    for (index, piece), share in reversed(ends) if busy_above else ends:
        yield index, piece, share


def _places(
    piece: Piece, share: float, channel: Channel, width: float
) -> Iterator[tuple[Label, Rectangle]]:
    """List places beside a piece, below the tracks if possible, the outer side of its curve
    first."""
    away = piece.bottom_x - piece.top_x
    leans_right = away > 1 if share < 0.6 else away < -1
    gaps = (BESIDE if piece.is_straight else BESIDE_CURVE, CLOSE_BESIDE)
    height = channel.middle + (channel.bottom - channel.middle) * share + 4
    sides = ("end", "start") if leans_right else ("start", "end")
    for gap, side, shift in product(gaps, sides, SHIFTS):
        y = round(height + shift)
        if channel.top + HEIGHT <= y <= channel.bottom - ABOVE_BOX:
            at = sorted((channel.x_at(piece, y - HEIGHT + 2), channel.x_at(piece, y + 2)))
            x = round(at[1] + gap if side == "start" else at[0] - gap, 1)
            left = x if side == "start" else x - width
            yield (x, y, side), Rectangle(left, y - HEIGHT + 2, left + width, y + 2)


def _on_square(
    grid: Grid, rows: Rows, channels: list[Channel], corners: list[Corner], line: int
) -> tuple[Label, int]:
    """Place a label above the first level part of a square line, where it covers the least of
    curves.

    The text begins at the start of that part, or further along it.
    """
    index = 1 if isinstance(corners[1][1], Run) else 0
    (x, level), (next_x, _) = corners[index], corners[index + 1]
    text = grid.picture.lines[line].label
    if grid.picture.boxes[grid.picture.lines[line].source].stacked:
        x += theme.STACK  # beside the card behind
    shift, y = rows.shift(level), rows.level(level) - 4
    first = _along(x + shift, y, next_x >= x)
    if isinstance(level, Anchor) or level.row < 0:
        return first, 0
    channel, width = channels[level.row], geometry.text_width(text, theme.MUTED_SIZE)

    def candidates() -> Iterator[Candidate]:
        for along in range(0, int(abs(next_x - x) - width - 8), ALONG):
            label = _along(x + shift + (along if next_x >= x else -along), y, next_x >= x)
            left = label[0] - (width if label[2] == "end" else 0)
            place = Rectangle(left, y - HEIGHT + 2, left + width, y + 2)
            if not channel.holds_text(place):
                yield Candidate(channel.disturbed_curves(place), channel, label, place)

    best, disturbance = _least_disturbing(candidates())
    return (first, 1) if best is None else (best, disturbance)


def _along(x: float, y: float, rightwards: bool) -> Label:
    return (x + 8, y, "start") if rightwards else (x - 8, y, "end")
