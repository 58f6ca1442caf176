"""Boxes, with what stands in them."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from gradstep_viz import theme
from gradstep_viz.output.svg.elements import escape, escape_all, escaped, number, rectangle
from gradstep_viz.picture.formatting import NOT_EQUAL
from gradstep_viz.picture.geometry import CHIP_GAP, CHIP_ROW, Rectangle
from gradstep_viz.picture.magnitude import ZERO, shade
from gradstep_viz.picture.model import Box, Chip
from gradstep_viz.picture.records import Records

RING = 3.5

_COLUMNS = (
    "node", "role", "title", "right", "right_muted", "detail", "chips", "alert", "step",
    "stacked", "runs_next", "href", "mark",
)  # fmt: skip


def draw_boxes(
    boxes: Records[Box], places: Records[Rectangle], part: slice, linked: bool
) -> Iterator[str]:
    """Draw boxes and their rows; ``linked`` leads from each to the line of the program."""
    tooltips = escape_all(boxes.column("tooltip")[part])
    rows = zip(*(boxes.column(name)[part] for name in _COLUMNS), strict=True)
    at = zip(*(places.column(name)[part] for name in Rectangle._fields), strict=True)
    for row, (x, y, width, height), tooltip in zip(rows, at, tooltips, strict=True):
        (
            node, role, title, right, muted, detail, chips, alert, step, stacked, runs_next, href,
            mark,
        ) = row  # fmt: skip
        left, baseline = number[x + theme.PADDING], number[y + 19]
        behind = _behind(x, y, width, height, stacked, runs_next) if stacked or runs_next else ""
        classes = _classes(role, step, alert, mark)
        text = (
            f'<g id="@-n{node}" class="{classes}"><title>{tooltip}</title>'
            f'{behind}<rect x="{number[x]}" y="{number[y]}" width="{number[width]}" '
            f'height="{number[height]}" rx="{theme.CORNER}"/>'
            f'<text x="{left}" y="{baseline}" class="h">{escaped[title]}</text>'
        )
        if right:
            is_marked = NOT_EQUAL in right or (alert and right[0] == "!")
            named = "e m" if muted else "e x" if is_marked else "e"
            end = number[x + width - theme.PADDING]
            text += f'<text x="{end}" y="{baseline}" class="{named}">{escape(right)}</text>'
        if detail:
            named = "m x" if detail[0] in ("!", NOT_EQUAL) else "m"
            below = number[y + 36]
            text += f'<text x="{left}" y="{below}" class="{named}">{escaped[detail]}</text>'
        if chips:
            top = y + height - 4 - len(chips) * (CHIP_ROW + CHIP_GAP)
            for chip in chips:
                text += _chip(chip, x + 6, top, width - 12)
                top += CHIP_ROW + CHIP_GAP
        text += "</g>"
        yield f'<a href="{escape(href)}">{text}</a>' if linked and href else text


@functools.lru_cache(maxsize=256)
def _classes(role: str, step: int, alert: bool, mark: str) -> str:
    classes = f"node {role} g{shade(step)}" if step else f"node {role}"
    if mark:
        classes += f" {mark}"
    return f"{classes} alert" if alert else classes


def _behind(x: float, y: float, width: float, height: float, stacked: bool, runs_next: bool) -> str:
    """Draw the edge of a second card, and the ring around the node that runs next."""
    shapes = ""
    if runs_next:
        around = Rectangle(x - RING, y - RING, width + 2 * RING, height + 2 * RING)
        shapes = f'<g class="ring">{rectangle(around, theme.CORNER + 3)}</g>'
    if stacked:  # seen at the right only: arrows end above and below
        back = Rectangle(x + theme.STACK, y + theme.STACK, width, height - 2 * theme.STACK)
        shapes += rectangle(back, theme.CORNER)
    return shapes


def _chip(chip: Chip, x: float, y: float, width: float) -> str:
    _, name, label, role, alert, step = chip
    inset, baseline = theme.PADDING - 4, number[y + 13]
    text = (
        f'<g class="chip {role}{" g0" if step == ZERO else ""}{" alert" if alert else ""}">'
        f'<rect x="{number[x]}" '
        f'y="{number[y]}" width="{number[width]}" height="{CHIP_ROW}" rx="4"/>'
        f'<text x="{number[x + inset]}" y="{baseline}" class="v">{escaped[name]}</text>'
    )
    if label:
        end = number[x + width - inset]
        classes = "e m x" if alert or NOT_EQUAL in label else "e m"
        text += f'<text x="{end}" y="{baseline}" class="{classes}">{escaped[label]}</text>'
    return f"{text}</g>"
