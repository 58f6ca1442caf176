"""Where everything stands: the result of a layout, whoever made it.

All lengths are in pixels, y grows downwards, and (0, 0) is the upper left corner.
"""

from __future__ import annotations

import functools
import unicodedata
from typing import NamedTuple

from viz import theme
from viz.picture import Box, Picture

Segment = tuple[float, ...]
"""The rest of a curve's control points: 2 numbers (line), 4 (quadratic) or 6 (cubic)."""

TITLE_ROW = 30
DETAIL_ROW = 16
CHIP_ROW = 18
CHIP_GAP = 4
NARROW_BOX = 140
WIDE_BOX = 180


class Place(NamedTuple):
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


class Label(NamedTuple):
    """Where the text of a line begins or ends; ``anchor`` is SVG's text-anchor."""

    x: float
    y: float
    anchor: str


class Route(NamedTuple):
    """The course of a line, from ``start`` along ``segments`` to the tip of its arrow."""

    start: tuple[float, float]
    segments: tuple[Segment, ...]
    label: Label | None

    @property
    def end(self) -> tuple[float, float]:
        return (self.segments[-1][-2], self.segments[-1][-1]) if self.segments else self.start


class Layout(NamedTuple):
    """Places for the boxes, routes for the lines and positions for the caption lines."""

    width: float
    height: float
    places: list[Place]
    routes: list[Route]
    captions: list[tuple[float, float]]


HEADER_TITLE_Y = 32
HEADER_LINE = 18


def place_captions(picture: Picture, columns: tuple[float, float]) -> list[tuple[float, float]]:
    """Caption lines under the title: side by side above their halves if they fit, else stacked."""
    first = HEADER_TITLE_Y + HEADER_LINE if picture.title else HEADER_LINE + 4
    captions = picture.captions
    if len(captions) == 2:
        forward_end = columns[0] + text_width(captions[0], theme.MUTED_SIZE) + 24
        if forward_end <= columns[1]:
            return [(columns[0], first), (columns[1], first)]
    return [(columns[0], first + HEADER_LINE * row) for row in range(len(captions))]


def header_height(picture: Picture, captions: list[tuple[float, float]]) -> float:
    """How far down the title and the caption lines reach, with air below."""
    last = max((y for _, y in captions), default=HEADER_TITLE_Y if picture.title else 0)
    return last + 20


def header_width(picture: Picture, captions: list[tuple[float, float]]) -> float:
    """How far to the right the title and the caption lines reach."""
    ends = [
        x + text_width(text, theme.MUTED_SIZE)
        for (x, _), text in zip(captions, picture.captions, strict=True)
    ]
    return max([theme.MARGIN + text_width(picture.title, theme.TITLE_SIZE), *ends])


def text_columns(text: str) -> int:
    """How many character cells a monospaced text takes.

    >>> text_columns("a.grad"), text_columns("a\u0301"), text_columns("\u91cf")
    (6, 1, 2)
    """
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


@functools.lru_cache(maxsize=4096)
def text_width(text: str, size: float) -> float:
    """The width of ``text`` at font size ``size``."""
    return text_columns(text) * size * theme.CHARACTER_WIDTH


def box_size(box: Box) -> tuple[int, int]:
    """Width and height that the text of a box needs; widths come in steps, for calm columns."""
    text, muted = theme.TEXT_SIZE, theme.MUTED_SIZE
    right = text_width(box.right, muted if box.right_muted else text)
    width = text_width(box.title, text) + (right + 18 if box.right else 0)
    width = max(width, text_width(box.detail, muted))
    for chip in box.chips:
        value = text_width(chip.right, muted) + 12 if chip.right else 0
        width = max(width, text_width(chip.name, muted) + value + 12)
    steps = -(-(int(width) + 2 * theme.PADDING + 1) // 20)
    height = TITLE_ROW + (DETAIL_ROW if box.detail else 0)
    if box.chips:
        height += len(box.chips) * (CHIP_ROW + CHIP_GAP) + 2
    least = WIDE_BOX if box.role == "bwd" else NARROW_BOX
    return max(steps * 20, least), height
