"""Lines: their course, the tip of their arrow, and what is written at them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence

from gradstep_viz import theme
from gradstep_viz.output.svg.elements import escape_all, number, text_at
from gradstep_viz.picture.formatting import NOT_EQUAL
from gradstep_viz.picture.geometry import (
    PORT_RADIUS,
    Jump,
    Label,
    NumberedPort,
    Rectangle,
    Route,
    Segment,
    text_width,
)
from gradstep_viz.picture.magnitude import shade
from gradstep_viz.picture.model import Line
from gradstep_viz.picture.records import Records

TIP_LENGTH = 7.5
TIP_HALF_WIDTH = 3.1
HOOK_DISTANCE = 14
HOOK_RADIUS = 3.6
_INNER = TIP_LENGTH - 1.5


@functools.lru_cache(maxsize=256)
def line_classes(kind: str, step: int, waits: bool, undefined: bool, alert: bool) -> str:
    """List the classes of a line, for the style sheet."""
    classes = f"edge {kind} g{shade(step)}" if step else f"edge {kind}"
    if waits:
        classes += " waits"
    if undefined:
        classes += " none"
    return f"{classes} alert" if alert else classes


def draw_lines(lines: Records[Line], routes: Records[Route], part: slice) -> Iterator[str]:
    """Draw lines with their arrows and their tooltips."""
    tooltips = escape_all(lines.column("tooltip")[part])
    known = [
        lines.column(name)[part]
        for name in ("edge", "kind", "step", "waits", "undefined", "alert", "hooked")
    ]
    courses = [routes.column(name)[part] for name in ("start", "segments")]
    for edge, kind, step, waits, undefined, alert, hooked, tooltip, start, segments in zip(
        *known, tooltips, *courses, strict=True
    ):
        mark = hook_mark(Route(start, segments, None)) if hooked else ""
        yield (
            f'<g id="@-e{edge}" class="{line_classes(kind, step, waits, undefined, alert)}">'
            f"<title>{tooltip}</title>{_arrow(start, segments)}{mark}</g>"
        )


def draw_labels(
    lines: Records[Line], routes: Records[Route], part: slice, halos: bool
) -> Iterator[str]:
    """Write the labels of lines, with a ground of their own where they have no halo."""
    texts, kinds, alerts = (lines.column(name)[part] for name in ("label", "kind", "alert"))
    for text, kind, alert, place in zip(
        texts, kinds, alerts, routes.column("label")[part], strict=True
    ):
        if place and text:
            if not halos:
                yield ground(label_place(text, place))
            yield _label(kind, alert, place, text)


def hook_mark(route: Route) -> str:
    """Draw a ring on a line, behind its tip: here a hook took the gradient."""
    if not route.segments:
        return ""
    (dx, dy), (x, y) = _direction(route.start, route.segments), route.end
    at = number[round(x - dx * HOOK_DISTANCE, 1)], number[round(y - dy * HOOK_DISTANCE, 1)]
    return f'<circle class="hook" cx="{at[0]}" cy="{at[1]}" r="{HOOK_RADIUS}"/>'


def draw_ports(ports: Sequence[NumberedPort]) -> Iterator[str]:
    """Draw the numbers where lines end and go on, each a link to the other end."""
    for at, (x, y, kind, count, other) in enumerate(ports):
        yield (
            f'<a id="@-port{at}" class="port {kind}" href="#@-port{other}">'
            f"<title>line {count} continues at the other {count}</title>"
            f'<circle cx="{number[x]}" cy="{number[y]}" r="{PORT_RADIUS}"/>'
            f"{text_at(x, y + 3.6, str(count), 'v')}</a>"
        )


def label_text(line: Line, place: Label, text: str) -> str:
    """Write the label of a line."""
    return _label(line.kind, line.alert, place, text)


def _label(kind: str, alert: bool, place: Label, text: str) -> str:
    x, y, anchor = place
    classes = "label m" if kind == "saved" else "label v"
    if alert or NOT_EQUAL in text:
        classes += " x"
    if anchor == "end":
        classes += " e"
    return text_at(x, y, text, classes)


def label_place(text: str, label: Label) -> Rectangle:
    """Return where the label of a line stands."""
    x, y, anchor = label
    width = text_width(text, theme.MUTED_SIZE)
    left = x - width if anchor == "end" else x
    return Rectangle(left - 2, y - theme.MUTED_SIZE, width + 4, theme.MUTED_SIZE + 3)


def ground(place: Rectangle) -> str:
    """Draw the ground on which the label of a line stands out from other lines."""
    return (
        f'<rect class="bg" x="{place.x:.1f}" y="{place.y:.1f}" '
        f'width="{place.width:.1f}" height="{place.height:.1f}"/>'
    )


def arrow(route: Route) -> str:
    """Draw the path of a line, ended a little before its tip, and the tip."""
    return _arrow(route.start, route.segments)


def _arrow(start: tuple[float, float], segments: Sequence[Segment]) -> str:
    if not segments:
        return ""
    dx, dy = _direction(start, segments)
    last = segments[-1]
    x, y = last[-2:]
    course = f"M{number[start[0]]} {number[start[1]]}"
    end_x, end_y = number[x - dx * _INNER], number[y - dy * _INNER]
    if dx == 0 and len(last) == 2 and len(segments) == 1:
        course += f"V{end_y}"
    else:
        for segment in segments[:-1]:
            course += _drawn(segment)
        if len(last) == 2:
            course += f"L{end_x} {end_y}"
        else:
            course += _drawn((*last[:-2], x - dx * _INNER, y - dy * _INNER))
    return f'<path d="{course}"/><path class="tip" d="M{number[x]} {number[y]}{_tip(dx, dy)}"/>'


def _drawn(segment: Segment) -> str:
    """Write the command that draws a segment: which one depends on how many numbers it takes."""
    if len(segment) == 2:
        x, y = segment
        return f"{'M' if isinstance(segment, Jump) else 'L'}{number[x]} {number[y]}"
    if len(segment) == 4:
        a, b, x, y = segment
        return f"Q{number[a]} {number[b]} {number[x]} {number[y]}"
    a, b, c, d, x, y = segment
    return f"C{number[a]} {number[b]} {number[c]} {number[d]} {number[x]} {number[y]}"


@functools.lru_cache(maxsize=4096)
def _tip(dx: float, dy: float) -> str:
    """Draw the sides of an arrow's tip, from its point on."""
    back_x, back_y = -dx * TIP_LENGTH, -dy * TIP_LENGTH
    side_x, side_y = -dy * TIP_HALF_WIDTH, dx * TIP_HALF_WIDTH
    over_x, over_y = 0.0 - 2 * side_x, 0.0 - 2 * side_y
    return f"l{back_x + side_x:.4g} {back_y + side_y:.4g} {over_x:.4g} {over_y:.4g}z"


def _direction(begin: tuple[float, float], segments: Sequence[Segment]) -> tuple[float, float]:
    """Return the unit vector along which a line arrives."""
    last = segments[-1]
    start = segments[-2][-2:] if len(segments) > 1 else begin
    if len(last) == 2:  # as most lines end: level, or upright
        (from_x, from_y), (x, y) = start, last
        if from_x == x and from_y != y:
            return 0.0, 1.0 if from_y < y else -1.0
        if from_y == y and abs(x - from_x) > 0.01:
            return 1.0 if from_x < x else -1.0, 0.0
    before = last[-4:-2] or start
    if before[0] == last[-2] and before[1] != last[-1]:
        return 0.0, 1.0 if before[1] < last[-1] else -1.0
    points = (*start, *last)
    x, y = last[-2:]
    for index in range(len(points) - 4, -1, -2):
        dx, dy = x - points[index], y - points[index + 1]
        if dx == 0 and dy != 0:
            return 0.0, math.copysign(1.0, dy)
        length = math.hypot(dx, dy)
        if length > 0.01:
            return round(dx / length, 3), round(dy / length, 3)
    return 0.0, 1.0
