"""Where everything stands: the result of a layout, whoever made it.

All lengths are in pixels, y grows downwards, and (0, 0) is the upper left corner.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from gradstep_viz import theme
from gradstep_viz.picture.model import Box, LineKind, Picture
from gradstep_viz.picture.records import Records

Segment = tuple[float, ...]
"""The rest of a curve's control points: 2 numbers (line, or :class:`Jump`), 4 (quadratic) or 6
(cubic)."""

TITLE_ROW = 30
DETAIL_ROW = 16
CHIP_ROW = 18
CHIP_GAP = 4
NARROW_BOX = 140
WIDE_BOX = 180


class Rectangle(NamedTuple):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def center(self) -> float:
        return self.x + self.width / 2


Label = tuple[float, float, str]
"""Where the text of a line begins, or ends: x, y and SVG's text-anchor, "start" or "end"."""


class Jump(NamedTuple):
    """A part of a line that is not drawn: it ends in a port, and goes on here, in another one."""

    x: float
    y: float


PORT_RADIUS = 8


class NumberedPort(NamedTuple):
    """The numbered end of a line of this kind that goes on elsewhere, in the port at the place
    ``other``."""

    x: float
    y: float
    kind: LineKind
    number: int
    other: int


class Route(NamedTuple):
    """The course of a line, from ``start`` along ``segments`` to the tip of its arrow."""

    start: tuple[float, float]
    segments: tuple[Segment, ...]
    label: Label | None

    @property
    def end(self) -> tuple[float, float]:
        return (self.segments[-1][-2], self.segments[-1][-1]) if self.segments else self.start


class Caption(NamedTuple):
    """A line under the title."""

    x: float
    y: float
    text: str

    @property
    def right(self) -> float:
        return self.x + text_width(self.text, theme.MUTED_SIZE)


class Layout(NamedTuple):
    """Places for the boxes, routes for the lines, the caption lines, and the ports of lines that
    run from one column into another."""

    width: float
    height: float
    places: Records[Rectangle]
    routes: Records[Route]
    captions: list[Caption]
    ports: Sequence[NumberedPort] = ()


HEADER_TITLE_Y = 32
HEADER_LINE = 18
FRAME_ROOM = 12
"""For the name of a frame between a caption and the first box."""
LEAST_CAPTION_WIDTH = 340


def place_captions(picture: Picture, columns: list[tuple[float, float]]) -> list[Caption]:
    """Place caption lines under the title, each above its half, or one below the other where the
    halves are too narrow; long ones go on in the next line.

    ``columns`` are left edge and width of the halves.
    """
    first = HEADER_TITLE_Y + HEADER_LINE if picture.title else HEADER_LINE + 4
    captions: list[Caption] = []
    for (x, width), text in zip(columns, picture.captions, strict=True):
        captions += _rows(text, x, first, width)
    if len(columns) < 2:
        return captions
    (x, width), (right_x, right_width) = columns
    reach = max((caption.right + 20 for caption in captions if caption.x < right_x), default=0)
    if reach > right_x or x + width > right_x:  # or the halves are one below the other
        left, captions = min(x, right_x), []
        for text in picture.captions:
            below = first + HEADER_LINE * len(captions)
            captions += _rows(text, left, below, max(x + width, right_x + right_width) - left)
    return captions


def _rows(text: str, x: float, first: float, width: float) -> list[Caption]:
    rows = wrap(text, max(width, LEAST_CAPTION_WIDTH))
    return [Caption(x, first + HEADER_LINE * row, text) for row, text in enumerate(rows)]


def wrap(text: str, width: float) -> list[str]:
    """Break a caption between its parts.

    >>> wrap("forward · 2 ops, 1 leaf · derived", 150)
    ['forward · 2 ops, 1 leaf', 'derived']
    >>> wrap("forward · 8,002 ops shown as 6, 4 leaves", 210)
    ['forward · 8,002 ops shown as 6,', '4 leaves']
    """
    rows = [""]
    for part in re.split(r"(?= · |(?<=, ))", text):
        longer = rows[-1] + part
        if text_width(longer.rstrip(), theme.MUTED_SIZE) <= width:
            rows[-1] = longer
        else:
            rows.append(part.removeprefix(" · "))
    return [row.rstrip() for row in rows if row]


def header_height(picture: Picture, captions: list[Caption]) -> float:
    """Measure how far down the title and the caption lines reach, with air below."""
    last = max((caption.y for caption in captions), default=HEADER_TITLE_Y)
    return last + 20 + (FRAME_ROOM if picture.frames else 0)


def header_width(picture: Picture, captions: list[Caption]) -> float:
    """Measure how far to the right the title and the caption lines reach."""
    title = theme.MARGIN + text_width(picture.title, theme.TITLE_SIZE)
    return max([title, *(caption.right for caption in captions)])


def text_columns(text: str) -> int:
    """Count the character cells that a monospaced text takes.

    >>> text_columns("a.grad"), text_columns("a\u0301"), text_columns("\u91cf")
    (6, 1, 2)
    """
    return len(text) if text.isascii() else _cells(text)


@functools.lru_cache(maxsize=4096)
def _cells(text: str) -> int:
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


@functools.lru_cache(maxsize=4096)
def text_width(text: str, size: float) -> float:
    """Measure ``text`` at font size ``size``."""
    return text_columns(text) * size * theme.CHARACTER_WIDTH


def box_size(box: Box) -> tuple[int, int]:
    """Measure the room that the text of a box needs; widths come in steps, for calm columns."""
    return box_sizes(Records.of(Box, [box]))[0]


def box_sizes(boxes: Records[Box]) -> list[tuple[int, int]]:
    """Measure many boxes."""
    rows = boxes.rows("role", "title", "right", "right_muted", "detail", "chips")
    # what many boxes have in common is measured once
    inside = {
        chips: tuple([(text_columns(chip.name), text_columns(chip.right)) for chip in chips])
        for chips in set(boxes.column("chips"))
    }
    texts = {*boxes.column("title"), *boxes.column("detail")}
    columns = {text: text_columns(text) for text in texts}
    return [
        _size_of_columns(
            role, columns[title], text_columns(right), muted, columns[detail], inside[chips]
        )
        for role, title, right, muted, detail, chips in rows
    ]


@functools.lru_cache(maxsize=4096)
def _size_of_columns(
    role: str,
    title: int,
    right: int,
    right_muted: bool,
    detail: int,
    chips: tuple[tuple[int, int], ...],
) -> tuple[int, int]:
    """Find the size of a box from the numbers of characters of its texts."""
    text, muted = (size * theme.CHARACTER_WIDTH for size in (theme.TEXT_SIZE, theme.MUTED_SIZE))
    width = title * text + (right * (muted if right_muted else text) + 18 if right else 0)
    width = max(width, detail * muted)
    for name, value in chips:
        width = max(width, name * muted + (value * muted + 12 if value else 0) + 12)
    steps = -(-(int(width) + 2 * theme.PADDING + 1) // 20)
    height = TITLE_ROW + (DETAIL_ROW if detail else 0)
    if chips:
        height += len(chips) * (CHIP_ROW + CHIP_GAP) + 2
    return max(steps * 20, WIDE_BOX if role == "bwd" else NARROW_BOX), height
