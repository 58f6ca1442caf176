"""The legend below a picture, drawn with samples."""

from __future__ import annotations

from typing import NamedTuple

from gradstep_viz import theme
from gradstep_viz.output.svg.elements import rectangle, text_at
from gradstep_viz.output.svg.lines import arrow, hook_mark
from gradstep_viz.picture.geometry import Rectangle, Route, text_width
from gradstep_viz.picture.legend import LegendEntry, legend_of
from gradstep_viz.picture.model import Picture

_SAMPLE = 28
_HEIGHT = 14
_ROW = 24
_GAP = 26
_LEAST_WIDTH = 640


class Legend(NamedTuple):
    """A drawn legend and its size."""

    markup: str
    width: float
    height: float


def draw_legend(picture: Picture, layout_width: float, top: float) -> Legend:
    """Explain what occurs in ``picture``, from height ``top`` on."""
    widest = max(layout_width, _LEAST_WIDTH) - theme.MARGIN
    x, y, right = float(theme.MARGIN), top + 4, 0.0
    parts = []
    for entry in legend_of(picture):
        width = _SAMPLE + 8 + text_width(entry.words, theme.MUTED_SIZE)
        if x > theme.MARGIN and x + width > widest:
            x, y = theme.MARGIN, y + _ROW
        parts.append(_sample(entry, x, y))
        parts.append(text_at(x + _SAMPLE + 8, y + 11, entry.words, "m"))
        x += width + _GAP
        right = max(right, x - _GAP)
    height = y + _ROW - top if parts else 0.0
    return Legend(
        f'<g class="legend">{"".join(parts)}</g>', right + theme.MARGIN, height + theme.MARGIN / 2
    )


def _sample(entry: LegendEntry, x: float, y: float) -> str:
    """Draw a small box or line."""
    if entry.kind == "line":
        middle = y + _HEIGHT / 2
        route = Route((x, middle), ((x + _SAMPLE, middle),), None)
        mark = hook_mark(route) if entry.hooked else ""
        return f'<g class="{_line_classes(entry)}">{arrow(route)}{mark}</g>'
    behind = text = ""
    if entry.kind == "stack":
        behind = rectangle(Rectangle(x + 3, y + 2, _SAMPLE, _HEIGHT - 4), 4)
    if entry.role == "alert":
        text = text_at(x + 10, y + 11, "!", "x m")
    box = rectangle(Rectangle(x, y, _SAMPLE, _HEIGHT), 4)
    classes = "ring" if entry.kind == "ring" else f"node {entry.role}"
    if entry.kind == "mark":
        classes = f"node out {entry.role}"
    return f'<g class="{classes}">{behind}{box}{text}</g>'


def _line_classes(entry: LegendEntry) -> str:
    shade = f" g{max(entry.shade, 0)}" if entry.shade else ""
    classes = f"edge {entry.role}{shade}"
    if entry.undefined:
        return f"{classes} none"
    return f"{classes} waits" if entry.waits else classes
