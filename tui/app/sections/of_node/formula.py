"""The rule that runs, what its terms are, and what came of it; and the numeric check of it."""

from __future__ import annotations

import re

from autograd_core.debug.snapshot import NodeDetail, Snapshot
from autograd_core.text import printable
from tui.app.sections.of_node.gradient import title_line, value_parts
from tui.app.sections.page import Page, View
from tui.app.widgets.text import Line, Part, StyleName, fit, is_accumulate, wrapped

NAME_WIDTH = 10


def page(view: View) -> Page:
    """The derivative rules of the selected node, their terms and their results."""
    detail = view.session.detail(view.node)
    lines: list[Line] = [title_line(detail, view.snapshot)]
    if detail.formulas:
        lines += _rules(detail)
    elif is_accumulate(view.snapshot.graph.names[view.node]):
        lines += _accumulation(view.snapshot, view.node)
    else:
        lines.append([Part("formula", "backward"), Part("  not known for this node", "muted")])
    return Page(lines)


def _rules(detail: NodeDetail) -> list[Line]:
    lines: list[Line] = [
        [Part("formula", "backward"), Part("  of the gradient by each input", "muted")]
    ]
    for name, rule in detail.formulas:
        lines.append([Part("  ∂ " + fit(name, NAME_WIDTH) + " "), Part(printable(rule), "strong")])
    lines.append([Part("terms", "title")])
    for incoming in detail.incoming:
        name = f"g[{incoming.input_nr}]" if len(detail.incoming) > 1 else "g"
        if incoming.total is None:
            shown: Line = [Part("has not arrived", "muted")]
        else:
            shown = value_parts(incoming.total)
        missing = incoming.expected - incoming.arrived
        note = f"  {missing} more to arrive" if missing and incoming.total is not None else ""
        lines.append([Part("  " + fit(name, NAME_WIDTH + 3)), *shown, Part(note, "muted")])
    used = set(re.findall(r"\w+", " ".join(rule for _, rule in detail.formulas)))
    for saved in detail.saved:
        style: StyleName = "text" if saved.name in used else "muted"
        value: Line = [Part("is gone", "trouble")]
        if saved.value is not None:
            value = value_parts(saved.value)
        lines.append([Part("  " + fit(saved.name, NAME_WIDTH + 3), style), *value])
    sent = [each for each in detail.outgoing if each.sent and each.target is not None]
    if sent:
        lines.append([Part("results", "title"), Part("  in the shape of each input", "muted")])
    for each in sent:
        name = f"out {each.output_nr}"
        lines.append([Part("  " + fit(name, NAME_WIDTH + 3)), *value_parts(each.value)])
    return lines


def _accumulation(snapshot: Snapshot, index: int) -> list[Line]:
    name = printable(snapshot.graph.variables.get(index, "leaf"))
    return [
        [Part("formula", "backward"), Part("  g is the sum that arrived", "muted")],
        [Part(f"  {name}.grad += g", "leaf")],
    ]


def check_page(view: View) -> Page:
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
