"""The selected node in two passes that are compared: what arrived and what was sent, in both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradstep.debugger.snapshot import NodeDetail
from gradstep.debugger.snapshot.wording import summary
from gradstep.graph.addresses import step_number
from gradstep_tui.app.sections.page import Page, ScreenView, sentence
from gradstep_tui.app.widgets.text import Line, Part, StyleName, wrapped


class _Row(NamedTuple):
    """A gradient in both passes, in words; "" where it has not flowed, or is not there."""

    label: str
    here: str
    there: str


def page(view: ScreenView) -> Page:
    """Return how the selected node differs in the other pass, and the gradients in both."""
    other = view.facts.other(view.node)
    if other is None:
        return sentence(view, "gradstep diff --screen A B shows two passes beside each other.")
    style: StyleName = "changed" if other.differs else "text"
    lines: list[Line] = wrapped([Part(other.text, style)], view.width)
    if other.detail is None:
        return Page(lines)
    lines.append([Part("this run, and below it ", "muted"), Part(other.name)])
    for row in _rows(view.facts.detail(view.node), other.detail):
        differs: StyleName = "changed" if row.here != row.there else "text"
        lines.append([Part(f"{row.label:8}", "backward"), Part(row.here)])
        lines.append([Part(" " * 8), Part(row.there, differs)])
    at = step_number(other.position) if other.position < other.length else "its end"
    lines.append([Part(f"{other.name} stands at {at}", "muted")])
    return Page(lines)


def _rows(here: NodeDetail, there: NodeDetail) -> Iterator[_Row]:
    for one, other in zip(here.incoming, there.incoming, strict=False):
        label = f"in {one.input_nr}" if len(here.incoming) > 1 else "in"
        yield _Row(
            label, summary(one.total, one.without_total), summary(other.total, other.without_total)
        )
    for mine, its in zip(here.outgoing, there.outgoing, strict=False):
        sent = [
            summary(gradient.value) if gradient.sent else "nothing yet" for gradient in (mine, its)
        ]
        yield _Row(f"out {mine.output_nr}", *sent)
