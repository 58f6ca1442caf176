"""The forward op of a node: its line among its neighbours; its value, time, bytes and module."""

from __future__ import annotations

from gradstep.debugger.snapshot import NodeDetail, Snapshot, Value
from gradstep.debugger.snapshot.wording import described, of_statistics
from gradstep.findings.reports.source import SourceLine, lines_around
from gradstep.graph.statistics import (
    format_bytes,
    format_number,
)
from gradstep.text import printable
from gradstep_tui.app.sections.of_node.saved import source_text
from gradstep_tui.app.sections.page import Page, ScreenView
from gradstep_tui.app.widgets.text import (
    Line,
    Part,
    fit,
    is_accumulate,
    node_label,
    shape_text,
    wrapped,
)

AROUND = 40  # lines before and after


def source_page(view: ScreenView) -> Page:
    """Return the file around the forward line of the selected node, with that line marked."""
    snapshot = view.snapshot
    origin = view.facts.forward_line(view.node)
    if origin is None:
        lines: list[Line] = [
            [Part("forward line", "title"), Part("  not traced", "muted")],
            *wrapped([Part("  " + printable(snapshot.hint), "muted")], view.width),
        ]
        return Page(lines if snapshot.hint else lines[:1])
    owner, source = origin
    of_leaf = "" if owner == view.node else f", which sends to {node_label(snapshot, view.node)}"
    lines = [
        [Part(source_text(source), "title"),
         Part(f"  {node_label(snapshot, owner)}{of_leaf}", "muted")]
    ]  # fmt: skip
    around = lines_around(source, AROUND, AROUND)
    place = next((number for number, each in enumerate(around, 1) if each.here), 0)
    lines += [numbered(each, len(str(around[-1].number))) for each in around]
    # a few lines below it are in view as well
    return Page(lines, focus=min(len(lines) - 1, place + view.height // 2 - 1))


def numbered(line: SourceLine, width: int) -> Line:
    """Return a line of a file behind its number, the one in question with a mark."""
    if line.here:
        return [Part(f"▸ {line.number:>{width}} │ {printable(line.text)}", "strong")]
    return [Part(f"  {line.number:>{width}} │ ", "muted"), Part(printable(line.text))]


LABEL_WIDTH = 14


def forward_lines(view: ScreenView) -> list[Line]:
    """Return the result of the forward op, as far as it is known."""
    graph = view.snapshot.graph
    if is_accumulate(graph.names[view.node]):
        return []
    about = f"  {shape_text(graph.shapes[view.node])} {graph.dtypes[view.node]}"
    lines: list[Line] = [[Part("forward value", "title"), Part(about, "muted")]]
    value = view.facts.forward_value(view.node)
    if isinstance(value, Value):
        return [*lines, *([Part("  " + text)] for text in described(value))]
    text = "not kept" if value is None else of_statistics(value)
    return [*lines, [Part("  " + text)]]


def numbers_lines(view: ScreenView) -> list[Line]:
    """Time, bytes and module of the selected node."""
    detail, snapshot = view.facts.detail(view.node), view.snapshot
    rows = [*_of_node(detail, view), *_of_recording(snapshot)]
    return [[Part("  " + fit(label, LABEL_WIDTH), "muted"), Part(text)] for label, text in rows]


def _of_node(detail: NodeDetail, view: ScreenView) -> list[tuple[str, str]]:
    graph = view.snapshot.graph
    took = "not run yet" if detail.seconds is None else f"{format_number(1e6 * detail.seconds)} µs"
    rows = [
        ("time", took),
        ("gradients", format_bytes(detail.nbytes) if detail.nbytes else "not run yet"),
    ]
    scope = view.modules.scope_of(view.node)
    kind = graph.modules.get(scope, "")
    if scope:
        rows.append(("module", printable(f"{scope} {kind}".strip())))
    if (ratio := _ratio(detail, view)) is not None:
        rows.append(("ratio", f"{format_number(ratio)} times what its producer received"))
    return rows


def _ratio(detail: NodeDetail, view: ScreenView) -> float | None:
    """Return the rms of what arrived, over that of what arrived at the node that sent it."""
    here = next((each.total for each in detail.incoming if each.total is not None), None)
    senders = {one.producer for each in detail.incoming for one in each.contributions}
    before = [
        each.total.statistics.rms
        for sender in senders
        if sender is not None
        for each in view.facts.detail(sender).incoming
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
