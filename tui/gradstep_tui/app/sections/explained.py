"""Reports: why the gradient of the selected node is what it is, and why the pass stopped."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.text import printable
from gradstep_tui.app.sections.page import Page, ScreenView, sentence
from gradstep_tui.app.widgets.text import Part, unwrapped, wrapped


def why_page(view: ScreenView) -> Page:
    """Return why the gradient of the selected node is what it is."""
    return _page(view, view.facts.explanation(view.node).lines())


def report_page(view: ScreenView) -> Page:
    """Return the last stop, error or answer of ``why``."""
    if not view.notes.report:
        return sentence(
            view, "nothing has stopped the pass yet: catch nan, then c, goes to the first nan"
        )
    return _page(view, view.notes.report.splitlines())


def _page(view: ScreenView, text: Sequence[str]) -> Page:
    """Return a report in lines that fit, from its first line on."""
    first, *others = unwrapped(text)
    lines = wrapped([Part(printable(first), "strong")], view.width)
    for line in others:
        lines += wrapped([Part(printable(line))], view.width)
    return Page(lines)
