"""The strokes of a film: SVG elements, each with the frames in which it is seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import hypot
from typing import NamedTuple

from gradstep_viz import theme
from gradstep_viz.films.shots import Shot
from gradstep_viz.films.timeline import BoxTimeline, LineTimeline, Text, Timeline
from gradstep_viz.output.svg import (
    arrow,
    draw_ports,
    escape,
    hook_mark,
    label_text,
    line_classes,
    rectangle,
    text_at,
)
from gradstep_viz.picture.geometry import (
    CHIP_GAP,
    CHIP_ROW,
    HEADER_TITLE_Y,
    PORT_RADIUS,
    Jump,
    Layout,
    Rectangle,
    Route,
    text_width,
)
from gradstep_viz.picture.magnitude import ZERO
from gradstep_viz.picture.model import Box, Chip, Line, Picture

SUBTITLE_ROOM = 52
BAR_HEIGHT = 3
RING = 3.5


class Stroke(NamedTuple):
    """Seen from frame ``start`` up to, not including, ``stop``; pale before frame ``solid``."""

    markup: str
    start: int
    stop: int
    solid: int


def draw(
    picture: Picture, layout: Layout, timeline: Timeline, shots: Sequence[Shot]
) -> Iterator[Stroke]:
    """Draw everything that is seen at some time, from back to front."""
    last = len(shots)
    if picture.title:
        yield _always(text_at(theme.MARGIN, HEADER_TITLE_Y, picture.title, "t"), last)
    for x, y, caption in layout.captions:
        yield _always(text_at(x, y, caption, "m"), last)
    for line, route, times in zip(picture.lines, layout.routes, timeline.lines, strict=True):
        yield from _until_solid(
            _line(line._replace(step=0, undefined=False), route), _line(line, route), times, last
        )
    for line, route, times in zip(picture.lines, layout.routes, timeline.lines, strict=True):
        if route.label is None:
            continue
        for label, start, stop in (
            (times.waiting, times.start, times.solid),
            (times.label, times.solid, last),
        ):
            if label and start < stop:
                yield Stroke(label_text(line, route.label, label), start, stop, times.solid)
    for markup, start in _ports(layout, timeline):
        yield Stroke(markup, start, last, 0)
    for box, place, box_times in zip(picture.boxes, layout.places, timeline.boxes, strict=True):
        yield from _box(box, place, box_times, timeline, last)


def _ports(layout: Layout, timeline: Timeline) -> Iterator[tuple[str, int]]:
    """Draw the ports of lines, each with the first frame in which one of its lines is seen."""
    ends: list[tuple[float, float, int]] = []
    for route, times in zip(layout.routes if layout.ports else (), timeline.lines, strict=False):
        for segment, after in pairwise((route.start, *route.segments)):
            if isinstance(after, Jump):
                ends += [(segment[-2], segment[-1], times.start), (after.x, after.y, times.start)]
    for port, markup in zip(layout.ports, draw_ports(layout.ports), strict=True):
        near = (start for x, y, start in ends if hypot(x - port.x, y - port.y) <= 2 * PORT_RADIUS)
        yield markup, min(near, default=0)


def subtitle_width(shots: Sequence[Shot]) -> float:
    """Return how wide the picture has to be for its subtitles."""
    widths = [text_width(shot.headline, theme.TEXT_SIZE) for shot in shots]
    widths += [text_width(shot.detail, theme.MUTED_SIZE) for shot in shots]
    return max(widths) + 2 * theme.MARGIN


def _always(markup: str, last: int) -> Stroke:
    return Stroke(markup, 0, last, 0)


def _until_solid(
    early: str, late: str, times: BoxTimeline | LineTimeline, last: int
) -> Iterator[Stroke]:
    """Draw what looks otherwise once a gradient has come: ``early`` until then, if that is not as
    ``late``."""
    if early == late or times.solid >= last:
        yield Stroke(early, times.start, last, times.solid)
        return
    if times.start < times.solid:
        yield Stroke(early, times.start, times.solid, times.solid)
    yield Stroke(late, times.solid, last, times.solid)


def _line(line: Line, route: Route) -> str:
    classes = line_classes(line.kind, line.step, False, line.undefined, line.alert)
    mark = hook_mark(route) if line.hooked else ""
    return f'<g class="{classes}"><title>{escape(line.tooltip)}</title>{arrow(route)}{mark}</g>'


def _box(
    box: Box, place: Rectangle, times: BoxTimeline, timeline: Timeline, last: int
) -> Iterator[Stroke]:
    left, right = place.x + theme.PADDING, place.right - theme.PADDING
    early, late = (
        f'<g class="node {box.role}{zero}"><title>{escape(box.tooltip)}</title>'
        f"{rectangle(place, theme.CORNER)}{text_at(left, place.y + 19, box.title, 'h')}</g>"
        for zero in ("", _zero(box))
    )
    yield from _until_solid(early, late, times, last)
    for text, stop in _until(times.texts, last):
        markup = ""
        if text.right:
            muted = " m" if box.right_muted and text.right.startswith("#") else ""
            markup += text_at(right, place.y + 19, text.right, f"e{muted}{_alert(text.right)}")
        if text.detail:
            markup += text_at(left, place.y + 36, text.detail, f"m{_alert(text.detail)}")
        if markup:
            yield Stroke(markup, text.start, stop, times.solid)
    yield from _rings(place, theme.CORNER, times)
    top = place.bottom - 4 - len(box.chips) * (CHIP_ROW + CHIP_GAP)
    for chip in box.chips:
        row = Rectangle(place.x + 6, top, place.width - 12, CHIP_ROW)
        yield from _chip(chip, row, timeline.chips[box.node, chip.node], last)
        top += CHIP_ROW + CHIP_GAP


def _chip(chip: Chip, place: Rectangle, times: BoxTimeline, last: int) -> Iterator[Stroke]:
    inset, baseline = theme.PADDING - 4, place.y + 13
    early, late = (
        f'<g class="node"><g class="chip {chip.role}{zero}">{rectangle(place, 4)}'
        f"{text_at(place.x + inset, baseline, chip.name, 'v')}</g></g>"
        for zero in ("", _zero(chip))
    )
    yield from _until_solid(early, late, times, last)
    for text, stop in _until(times.texts, last):
        if text.right:
            markup = text_at(place.right - inset, baseline, text.right, f"e m{_alert(text.right)}")
            yield Stroke(markup, text.start, stop, times.solid)
    yield from _rings(place, 4, times)


def _zero(shown: Box | Chip) -> str:
    return " g0" if shown.step == ZERO else ""


def _alert(text: str) -> str:
    return " x" if text.startswith("!") else ""


def _until(texts: Sequence[Text], last: int) -> Iterator[tuple[Text, int]]:
    ends = [following.start for following in texts[1:]]
    return zip(texts, [*ends, last], strict=True)


def _rings(place: Rectangle, corner: int, times: BoxTimeline) -> Iterator[Stroke]:
    x, y, width, height = place
    around = Rectangle(x - RING, y - RING, width + 2 * RING, height + 2 * RING)
    for frame in times.at_work:
        markup = f'<g class="ring">{rectangle(around, corner + 3)}</g>'
        yield Stroke(markup, frame, frame + 1, frame)


def subtitles(shots: Sequence[Shot], top: float, width: float) -> Iterator[Stroke]:
    """Draw under the picture a bar that fills, what happens, and the numbers of it."""
    width -= 2 * theme.MARGIN
    step = width / len(shots)
    bar = Rectangle(theme.MARGIN, top, width, BAR_HEIGHT)
    yield _always(f'<g class="bar">{rectangle(bar, 1)}</g>', len(shots))
    for number, shot in enumerate(shots):
        done = Rectangle(theme.MARGIN + number * step, top, step, BAR_HEIGHT)
        yield Stroke(f'<g class="bar now">{rectangle(done, 1)}</g>', number, len(shots), number)
        headline = _cut(shot.headline, theme.TEXT_SIZE, width)
        lines = text_at(theme.MARGIN, top + 22, headline, "h")
        if shot.detail:
            detail = _cut(shot.detail, theme.MUTED_SIZE, width)
            lines += text_at(theme.MARGIN, top + 39, detail, "m")
        yield Stroke(lines, number, number + 1, number)


def _cut(text: str, size: float, room: float) -> str:
    """Return as much of a text as there is room for."""
    if text_width(text, size) <= room:
        return text
    while text and text_width(text + "…", size) > room:
        text = text[:-1]
    return text.rstrip() + "…"
