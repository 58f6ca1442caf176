"""The forward line that made a node, among its neighbours."""

from __future__ import annotations

import linecache

from autograd_core.text import printable
from tui.app.sections.gradient import title_line
from tui.app.sections.page import Page, View
from tui.app.sections.saved import source_text
from tui.app.widgets.text import Line, Part, wrapped

AROUND = 40  # lines before and after


def page(view: View) -> Page:
    """The file around the forward line of the selected node, with that line marked."""
    detail, graph = view.session.detail(view.node), view.snapshot.graph
    lines: list[Line] = [title_line(detail, view.snapshot)]
    source = graph.sources.get(view.node)
    if source is None:
        lines.append([Part("forward line", "title"), Part("  not traced", "muted")])
        if view.snapshot.hint:
            lines += wrapped([Part("  " + printable(view.snapshot.hint), "muted")], view.width)
        return Page(lines)
    lines.append([Part("forward line", "title"), Part("  " + source_text(source), "muted")])
    text = linecache.getlines(source.file)
    if not text:
        lines.append([Part(f"▸ {source.line} ", "strong"), Part(printable(detail.source_line))])
        return Page(lines)
    first = max(0, source.line - 1 - AROUND)
    shown = text[first : source.line + AROUND]
    width = len(str(first + len(shown)))
    for number, each in enumerate(shown, first + 1):
        here = number == source.line
        mark = "▸" if here else " "
        lines.append(
            [
                Part(f"{mark} {number:>{width}} ", "strong" if here else "muted"),
                Part(printable(each.rstrip().expandtabs(4)), "strong" if here else "text"),
            ]
        )
    place = source.line - 1 - first + 2
    # a few lines below it are in view as well
    return Page(lines, focus=min(len(lines) - 1, place + view.height // 2 - 1))
