"""Why the gradient of the selected node is what it is."""

from __future__ import annotations

from gradstep.text import printable
from gradstep_tui.app.sections.page import Page, ScreenView
from gradstep_tui.app.widgets.text import Part, unwrapped, wrapped


def page(view: ScreenView) -> Page:
    """Return the explanation, in lines that fit."""
    first, *others = unwrapped(view.facts.explanation(view.node).lines())
    lines = wrapped([Part(printable(first), "strong")], view.width)
    for each in others:
        lines += wrapped([Part(printable(each))], view.width)
    return Page(lines)
