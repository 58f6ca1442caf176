"""The last stop, error or answer of ``why``, from its first line on."""

from __future__ import annotations

from gradstep.text import printable
from gradstep_tui.app.sections.page import Page, ScreenView, sentence
from gradstep_tui.app.widgets.text import Line, Part, unwrapped, wrapped


def page(view: ScreenView) -> Page:
    """Return what made the debugger stop last, and why that is so."""
    if not view.notes.report:
        return sentence(
            view, "nothing has stopped the pass yet: catch nan, then c, goes to the first nan"
        )
    first, *others = unwrapped(view.notes.report.splitlines())
    lines: list[Line] = wrapped([Part(printable(first), "strong")], view.width)
    for each in others:
        lines += wrapped([Part(printable(each))], view.width)
    return Page(lines)
