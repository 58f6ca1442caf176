"""The legend: what the colours, lines and marks of one picture mean, below it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from viz import theme
from viz.geometry import Place, Route, text_width
from viz.magnitude import SIGNS
from viz.picture import Picture
from viz.svg.elements import rectangle, text_at
from viz.svg.lines import arrow

_SAMPLE = 28
_HEIGHT = 14
_ROW = 24
_GAP = 26
_LEAST_WIDTH = 640

_BOXES = {
    "fwd": "forward op",
    "bwd": "backward node, #1 runs first",
    "leaf": "leaf or parameter, and its gradient",
    "const": "constant: needs no gradient",
    "out": "result, and the gradient that enters there",
}
_LINES = {
    "value": "value",
    "gradient": "gradient",
    "saved": "saved for the backward pass",
}


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
    for sample, words in _entries(picture):
        width = _SAMPLE + 8 + text_width(words, theme.MUTED_SIZE)
        if x > theme.MARGIN and x + width > widest:
            x, y = theme.MARGIN, y + _ROW
        parts.append(sample.draw(x, y))
        parts.append(text_at(x + _SAMPLE + 8, y + 11, words, "m"))
        x += width + _GAP
        right = max(right, x - _GAP)
    height = y + _ROW - top if parts else 0.0
    return Legend(
        f'<g class="legend">{"".join(parts)}</g>', right + theme.MARGIN, height + theme.MARGIN / 2
    )


class _Sample(NamedTuple):
    """A small box or line."""

    classes: str
    is_line: bool = False
    stacked: bool = False
    said: str = ""

    def draw(self, x: float, y: float) -> str:
        if self.is_line:
            middle = y + _HEIGHT / 2
            route = Route((x, middle), ((x + _SAMPLE, middle),), None)
            return f'<g class="{self.classes}">{arrow(route)}</g>'
        behind = rectangle(Place(x + 3, y + 2, _SAMPLE, _HEIGHT - 4), 4) if self.stacked else ""
        box = rectangle(Place(x, y, _SAMPLE, _HEIGHT), 4)
        said = text_at(x + 10, y + 11, self.said, "x m") if self.said else ""
        return f'<g class="{self.classes}">{behind}{box}{said}</g>'


def _entries(picture: Picture) -> Iterator[tuple[_Sample, str]]:
    boxes, lines = picture.boxes, picture.lines
    roles = {box.role for box in boxes} | {chip.role for box in boxes for chip in box.chips}
    kinds = {line.kind for line in lines}
    yield from ((_Sample(f"node {role}"), said) for role, said in _BOXES.items() if role in roles)
    if any(box.stacked for box in boxes):
        role = next(box.role for box in boxes if box.stacked)
        yield _Sample(f"node {role}", stacked=True), "several that are alike"
    for kind, said in _LINES.items():
        if kind in kinds:
            yield _Sample(f"edge {kind}", is_line=True), said
    if any(line.waits for line in lines):
        yield _Sample("edge gradient waits", is_line=True), "has not flowed yet"
    if picture.scale is not None:
        for number in range(1, len(theme.SHADES) + 1):
            low, high = picture.scale.bounds(2 * number - 1)[0], picture.scale.bounds(2 * number)[1]
            signs = SIGNS[2 * number - 2 : 2 * number]
            said = f"{signs} rms {low} … {high}"
            yield _Sample(f"edge gradient g{number}", is_line=True), said
    if any(box.alert for box in boxes) or any(line.alert for line in lines):
        yield _Sample("node alert", said="!"), "NaN, Inf, or changed after it was saved"
    if any(box.runs_next for box in boxes):
        yield _Sample("ring"), "runs next"
