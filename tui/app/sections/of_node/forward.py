"""The forward op of a node: its line among its neighbours; its value, time, bytes and module."""

from __future__ import annotations

import linecache

from autograd_core.dag.statistics import (
    format_bytes,
    format_number,
    format_shape,
    format_statistics,
)
from autograd_core.debug.snapshot import NodeDetail, Snapshot
from autograd_core.text import printable
from tui.app.sections.of_node.gradient import title_line
from tui.app.sections.of_node.saved import source_text
from tui.app.sections.page import Page, View
from tui.app.widgets.text import Line, Part, fit, wrapped

AROUND = 40  # lines before and after


def source_page(view: View) -> Page:
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


LABEL_WIDTH = 14


def numbers_page(view: View) -> Page:
    """The numbers of the selected node."""
    detail, snapshot = view.session.detail(view.node), view.snapshot
    rows = [*_of_node(detail, view), *_of_recording(snapshot)]
    lines: list[Line] = [title_line(detail, snapshot)]
    lines += [[Part("  " + fit(label, LABEL_WIDTH), "muted"), Part(text)] for label, text in rows]
    return Page(lines)


def _of_node(detail: NodeDetail, view: View) -> list[tuple[str, str]]:
    graph = view.snapshot.graph
    took = "not run yet" if detail.seconds is None else f"{format_number(1e6 * detail.seconds)} µs"
    rows = [
        ("time", took),
        ("gradients", format_bytes(detail.nbytes) if detail.nbytes else "not run yet"),
        ("saved", format_bytes(sum(each.nbytes for each in detail.saved))),
    ]
    shape = f"{format_shape(graph.shapes[view.node])} {graph.dtypes[view.node]}"
    forward = "values not traced" if detail.forward is None else format_statistics(detail.forward)
    rows.append(("forward value", f"{shape}, {forward}"))
    scope = view.modules.scope_of(view.node)
    kind = graph.modules.get(scope, "")
    rows.append(("module", printable(f"{scope} {kind}".strip()) or "in none"))
    if (ratio := _ratio(detail, view)) is not None:
        rows.append(("ratio", f"{format_number(ratio)} times what its producer received"))
    return rows


def _ratio(detail: NodeDetail, view: View) -> float | None:
    """The rms of what arrived, over that of what arrived at the node that sent it."""
    here = next((each.total for each in detail.incoming if each.total is not None), None)
    senders = {one.producer for each in detail.incoming for one in each.contributions}
    before = [
        each.total.statistics.rms
        for sender in senders
        if sender is not None
        for each in view.session.detail(sender).incoming
        if each.total is not None
    ]
    if here is None or not before or not max(before) > 0:
        return None
    return here.statistics.rms / max(before)


def _of_recording(snapshot: Snapshot) -> list[tuple[str, str]]:
    usage = snapshot.usage
    if usage is None:
        return [("recording", format_bytes(snapshot.bytes_recorded))]
    text = f"{format_bytes(usage.bytes)} of {format_bytes(usage.budget)}, {usage.kept:,} steps"
    if usage.dropped:
        text += f"; {usage.dropped:,} dropped, run again when looked at"
    return [("recording", text)]
