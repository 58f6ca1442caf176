"""Lines: their course, the tip of their arrow, and what is written at them."""

from __future__ import annotations

import functools
import math

from viz import theme
from viz.output.svg.elements import escape, number, text_at
from viz.picture.geometry import Label, Route, text_width
from viz.picture.magnitude import shade
from viz.picture.model import Line

TIP_LENGTH = 7.5
TIP_HALF_WIDTH = 3.1
HOOK_DISTANCE = 14
HOOK_RADIUS = 3.6


def line_classes(line: Line) -> str:
    """List the classes of a line, for the style sheet."""
    classes = f"edge {line.kind} g{shade(line.step)}" if line.step else f"edge {line.kind}"
    if line.waits:
        classes += " waits"
    return f"{classes} alert" if line.alert else classes


def draw_line(line: Line, route: Route) -> str:
    """Draw a line with its arrow and its tooltip."""
    return (
        f'<g id="@-{line.key}" class="{line_classes(line)}"><title>{escape(line.tooltip)}</title>'
        f"{arrow(route)}{hook_mark(route) if line.hooked else ''}</g>"
    )


def hook_mark(route: Route) -> str:
    """Draw a ring on a line, behind its tip: here a hook took the gradient."""
    if not route.segments:
        return ""
    (dx, dy), (x, y) = _direction(route), route.end
    at = number[round(x - dx * HOOK_DISTANCE, 1)], number[round(y - dy * HOOK_DISTANCE, 1)]
    return f'<circle class="hook" cx="{at[0]}" cy="{at[1]}" r="{HOOK_RADIUS}"/>'


def label_text(line: Line, place: Label, said: str) -> str:
    """Write the label of a line."""
    classes = "label m" if line.kind == "saved" else "label v"
    x, y, anchor = place
    classes += " x" * line.alert + " e" * (anchor == "end")
    return text_at(x, y, said, classes)


def label_ground(line: Line, place: Label) -> str:
    """Draw the ground on which the label of a line stands out from other lines."""
    x, y, anchor = place
    width = text_width(line.label, theme.MUTED_SIZE)
    left = x - width if anchor == "end" else x
    return (
        f'<rect class="bg" x="{left - 2:.1f}" y="{y - theme.MUTED_SIZE:.1f}" '
        f'width="{width + 4:.1f}" height="{theme.MUTED_SIZE + 3:.1f}"/>'
    )


_COMMANDS = {2: "L", 4: "Q", 6: "C"}
"""Drawing commands, by how many numbers they take."""


def arrow(route: Route) -> str:
    """Draw the path of a line, ended a little before its tip, and the tip."""
    (start_x, start_y), segments, _ = route
    if not segments:
        return ""
    dx, dy = _direction(route)
    (*near, x, y), inner = segments[-1], TIP_LENGTH - 1.5
    course = f"M{number[start_x]} {number[start_y]}"
    if not near and len(segments) == 1 and dx == 0:
        course += f"V{number[y - dy * inner]}"
    else:
        for segment in (*segments[:-1], (*near, x - dx * inner, y - dy * inner)):
            course += _COMMANDS[len(segment)] + " ".join(map(number.__getitem__, segment))
    return f'<path d="{course}"/><path class="tip" d="M{number[x]} {number[y]}{_tip(dx, dy)}"/>'


@functools.lru_cache(maxsize=4096)
def _tip(dx: float, dy: float) -> str:
    """Draw the sides of an arrow's tip, from its point on."""
    back_x, back_y = -dx * TIP_LENGTH, -dy * TIP_LENGTH
    side_x, side_y = -dy * TIP_HALF_WIDTH, dx * TIP_HALF_WIDTH
    over_x, over_y = 0.0 - 2 * side_x, 0.0 - 2 * side_y
    return f"l{back_x + side_x:.4g} {back_y + side_y:.4g} {over_x:.4g} {over_y:.4g}z"


def _direction(route: Route) -> tuple[float, float]:
    """Return the unit vector along which a line arrives."""
    last = route.segments[-1]
    start = route.segments[-2][-2:] if len(route.segments) > 1 else route.start
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
