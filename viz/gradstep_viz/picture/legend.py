"""The legend: what the boxes, lines and marks of one picture mean, whoever draws it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from gradstep_viz import theme
from gradstep_viz.picture.formatting import NOT_EQUAL
from gradstep_viz.picture.formatting import SIGNS as SIGNS_OF_MARKS
from gradstep_viz.picture.magnitude import ZERO, ZERO_SIGN, sign
from gradstep_viz.picture.model import Picture

_BOXES = {
    "fwd": "forward op",
    "bwd": "backward node, #1 runs first",
    "leaf": "leaf or parameter, and its gradient",
    "const": "constant: gets no gradient",
    "out": "result, and the gradient that enters there",
}
_LINES = {
    "value": "value",
    "gradient": "gradient",
    "saved": "saved for the backward pass",
}
_MARKS = {
    "added": "in the second graph only",
    "removed": "in the first graph only",
    "changed": "differs; number ≠ that of the other run",
}


class LegendEntry(NamedTuple):
    """One thing that occurs in a picture.

    ``role`` is one of ``theme.BOX_ROLES`` for a box, of ``theme.LINE_ROLES`` for a line, how a node
    differs for a mark;
    ``shade`` is that of a gradient on the scale, 0 without one, ``ZERO`` for a gradient of 0.
    """

    kind: Literal["box", "stack", "line", "ring", "mark"]
    role: str
    words: str
    shade: int = 0
    waits: bool = False
    undefined: bool = False
    hooked: bool = False


def legend_of(picture: Picture) -> Iterator[LegendEntry]:
    """List everything that needs a word, boxes first; nothing that does not occur."""
    boxes, lines = picture.boxes, picture.lines
    roles = {box.role for box in boxes} | {chip.role for box in boxes for chip in box.chips}
    kinds = {line.kind for line in lines}
    yield from (LegendEntry("box", role, words) for role, words in _BOXES.items() if role in roles)
    stacked = next((box.role for box in boxes if box.stacked), None)
    if stacked is not None:
        yield LegendEntry("stack", stacked, "several that are alike")
    yield from (LegendEntry("line", kind, words) for kind, words in _LINES.items() if kind in kinds)
    yield from _of_gradients(picture)
    if any(box.alert for box in boxes) or any(line.alert for line in lines):
        yield LegendEntry("box", "alert", "NaN, Inf, or changed after it was saved")
    if any(box.runs_next for box in boxes):
        yield LegendEntry("ring", "out", "runs next")
    marks = set(boxes.column("mark"))
    chips = (chip.right for chips in boxes.column("chips") for chip in chips)
    if any(NOT_EQUAL in said for said in (*lines.column("label"), *boxes.column("right"), *chips)):
        marks.add("changed")
    for mark, words in _MARKS.items():
        if mark in marks:
            yield LegendEntry("mark", mark, f"{SIGNS_OF_MARKS[mark]} {words}")


def _of_gradients(picture: Picture) -> Iterator[LegendEntry]:
    lines = picture.lines
    if any(line.waits for line in lines):
        yield LegendEntry("line", "gradient", "has not flowed yet", waits=True)
    if any(lines.column("undefined")):
        yield LegendEntry("line", "gradient", "undefined: none flows", undefined=True)
    if has_hooks(picture):
        yield LegendEntry("line", "gradient", "changed by a hook: before → after", hooked=True)
    if picture.scale is not None:
        for number in range(1, len(theme.SHADES) + 1):
            low, high = picture.scale.bounds(2 * number - 1)[0], picture.scale.bounds(2 * number)[1]
            bar = sign(2 * number)
            yield LegendEntry("line", "gradient", f"{bar} rms {low} … {high}", shade=number)
    if shows_zeros(picture):
        yield LegendEntry("line", "gradient", f"{ZERO_SIGN} a gradient of 0", shade=ZERO)


def shows_zeros(picture: Picture) -> bool:
    """Tell whether the picture shows a gradient of 0."""
    boxes = picture.boxes
    return (
        ZERO in picture.lines.column("step")
        or ZERO in boxes.column("step")
        or any(chip.step == ZERO for chips in boxes.column("chips") for chip in chips)
    )


def has_hooks(picture: Picture) -> bool:
    """Tell whether the picture shows a gradient that a hook changed."""
    return any(picture.lines.column("hooked")) or any(picture.boxes.column("hooked"))
