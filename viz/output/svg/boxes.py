"""Boxes, with what stands in them."""

from __future__ import annotations

from viz import theme
from viz.output.svg.elements import escape, escaped, number, rectangle, text_at
from viz.picture.geometry import CHIP_GAP, CHIP_ROW, Place
from viz.picture.magnitude import shade
from viz.picture.model import Box, Chip

RING = 3.5


def draw_box(box: Box, place: Place, linked: bool) -> str:
    """Draw a box and its rows; ``linked`` leads from it to the line of the program."""
    x, y, width, height = place
    left, baseline = number[x + theme.PADDING], number[y + 19]
    text = (
        f'<g id="@-{box.key}" class="{_classes(box)}"><title>{escape(box.tooltip)}</title>'
        f"{_behind(box, place)}{rectangle(place, theme.CORNER)}"
        f'<text x="{left}" y="{baseline}" class="h">{escaped[box.title]}</text>'
    )
    if box.right:
        alert = "e x" if box.alert and box.right[0] == "!" else "e"
        named = "e m" if box.right_muted else alert
        right = number[x + width - theme.PADDING]
        text += f'<text x="{right}" y="{baseline}" class="{named}">{escape(box.right)}</text>'
    if box.detail:
        named = "m x" if box.detail[0] == "!" else "m"
        detail = escaped[box.detail]
        text += f'<text x="{left}" y="{number[y + 36]}" class="{named}">{detail}</text>'
    if box.chips:
        top = y + height - 4 - len(box.chips) * (CHIP_ROW + CHIP_GAP)
        for chip in box.chips:
            text += _chip(chip, Place(x + 6, top, width - 12, CHIP_ROW))
            top += CHIP_ROW + CHIP_GAP
    text += "</g>"
    return f'<a href="{escape(box.href)}">{text}</a>' if linked and box.href else text


def _classes(box: Box) -> str:
    classes = f"node {box.role} g{shade(box.step)}" if box.step else f"node {box.role}"
    return f"{classes} alert" if box.alert else classes


def _behind(box: Box, place: Place) -> str:
    """Draw the edge of a second card, and the ring around the node that runs next."""
    x, y, width, height = place
    found = ""
    if box.runs_next:
        around = Place(x - RING, y - RING, width + 2 * RING, height + 2 * RING)
        found = f'<g class="ring">{rectangle(around, theme.CORNER + 3)}</g>'
    if box.stacked:  # seen at the right only: arrows end above and below
        back = Place(x + theme.STACK, y + theme.STACK, width, height - 2 * theme.STACK)
        found += rectangle(back, theme.CORNER)
    return found


def _chip(chip: Chip, place: Place) -> str:
    inset, baseline = theme.PADDING - 4, place.y + 13
    classes = f"chip {chip.role} alert" if chip.alert else f"chip {chip.role}"
    name = text_at(place.x + inset, baseline, chip.name, "v")
    right = ""
    if chip.right:
        right = text_at(place.right - inset, baseline, chip.right, "e m" + " x" * chip.alert)
    return f'<g class="{classes}">{rectangle(place, 4)}{name}{right}</g>'
