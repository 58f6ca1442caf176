"""The numeric check's verdict on a node."""

from __future__ import annotations

from autograd_core.text import printable
from tui.app.sections.gradient import title_line
from tui.app.sections.page import Page, View
from tui.app.widgets.text import Line, Part, StyleName, wrapped


def page(view: View) -> Page:
    """The last answer of ``check`` about the selected node."""
    lines: list[Line] = [title_line(view.session.detail(view.node), view.snapshot)]
    reply = view.notes.checks.get(view.node)
    if reply is None:
        lines.append([Part("t holds the rule to differences of its forward op", "muted")])
        return Page(lines)
    wrong = reply.error or " wrong" in reply.text
    style: StyleName = "trouble" if wrong else "text"
    said = " ".join(reply.text.split())
    lines += wrapped([Part(printable(said), style)], view.width)
    return Page(lines)
