"""The breakpoints: where it stops, how often it did, and which are off."""

from __future__ import annotations

from gradstep.debugger.snapshot import Breakpoint
from gradstep.text import printable
from gradstep_tui.app.sections.page import Page, PointTarget, ScreenView, Target, sentence
from gradstep_tui.app.widgets.text import Line, Part, fit


def page(view: ScreenView) -> Page:
    """Return one line per breakpoint, and the commands that it carries out."""
    points = view.snapshot.breakpoints
    if not points:
        return sentence(view, "no breakpoints: b sets one on the row, B one with a condition")
    lines: list[Line] = []
    owners: list[Breakpoint] = []
    for point in points:
        lines.append(_line(point, view.width))
        owners.append(point)
        for command in point.commands:
            lines.append([Part(f"      {printable(command)}", "muted")])
            owners.append(point)

    def target(line: int, column: int) -> Target | None:
        point = owners[line]
        return PointTarget(point.number, point.indices[0] if point.indices else -1)

    return Page(lines, target=target)


def _line(point: Breakpoint, width: int) -> Line:
    notes = [f"hit {point.hits}"] if point.hits else []
    if point.ignore:
        notes.append(f"ignores {point.ignore}")
    if not point.enabled:
        notes.append("off")
    if not point.indices and point.kind != "catch":
        notes.append("waits for a pass that has this place")
    note = ", ".join(notes)
    mark = "●" if point.enabled else "◌"
    room = max(12, width - len(note) - 9)
    return [
        Part(f" {mark} ", "strong"),
        Part(f"{point.number:>2} ", "muted"),
        Part(fit(point.command, room), "text" if point.enabled else "muted"),
        Part(f" {note}", "muted"),
    ]
