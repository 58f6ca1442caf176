"""The gradient pane: what arrived at a node, in order, what it adds up to, and what left it."""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len

from autograd_core.dag.statistics import format_shape
from autograd_core.debug.protocol import DebugSession
from autograd_core.debug.snapshot import (
    Incoming,
    NodeDetail,
    Outgoing,
    Snapshot,
    Value,
)
from tui.app.widgets.lanes import PlanEdges
from tui.app.widgets.line_view import LinesView
from tui.app.widgets.text import (
    UNDEFINED,
    Line,
    Part,
    StyleName,
    fit,
    is_accumulate,
    node_label,
    plain,
    value_part,
)

MAX_NAME = 24
STATE_TEXT = {"done": "has run", "current": "runs next", "waiting": "has not run"}


class GradientPane(LinesView):
    """Contributions, sum and outgoing gradients of one node."""

    def show(self, session: DebugSession, snapshot: Snapshot, edges: PlanEdges, index: int) -> None:
        """Show node ``index`` as it stands in ``snapshot``."""
        self.show_lines(gradient_lines(session.detail(index), snapshot, edges))


class Entry(NamedTuple):
    """One line below a heading: a mark, what it is about, and the value there."""

    mark: str
    label: str
    shown: Line
    style: StyleName = "text"


def gradient_lines(detail: NodeDetail, snapshot: Snapshot, edges: PlanEdges) -> list[Line]:
    """All lines of the pane for one node, their values in one column."""
    entries: list[Line | Entry] = [_title(detail, snapshot)]
    for incoming in detail.incoming:
        entries.append(_incoming_heading(incoming))
        entries += _contributions(incoming, snapshot)
        entries += _missing(incoming, snapshot, edges, detail.index)
        entries.append(_total(incoming))
    if is_accumulate(snapshot.graph.names[detail.index]):
        entries += _leaf_gradient(snapshot, detail.index)
    if detail.outgoing:
        entries.append([Part("out", "backward")])
        entries += [_outgoing(outgoing, snapshot) for outgoing in detail.outgoing]
    labels = (cell_len(entry.label) for entry in entries if isinstance(entry, Entry))
    width = max(labels, default=0) + 2
    return [_aligned(entry, width) if isinstance(entry, Entry) else entry for entry in entries]


def _aligned(entry: Entry, width: int) -> Line:
    mark = Part(f"  {entry.mark} ", "muted")
    return [mark, Part(fit(entry.label, width), entry.style), *entry.shown]


def _title(detail: NodeDetail, snapshot: Snapshot) -> Line:
    name = snapshot.graph.names[detail.index]
    current = detail.status == "current"
    return [
        Part(f"#{detail.index} ", "muted"),
        Part(plain(name), "leaf" if is_accumulate(name) else "strong"),
        Part(f"  {plain(snapshot.graph.address(detail.index))}", "muted"),
        Part(f"  {STATE_TEXT[detail.status]}", "strong" if current else "muted"),
    ]


def _incoming_heading(incoming: Incoming) -> Line:
    arrived = incoming.arrived
    return [
        Part("in" if not incoming.input_nr else f"in {incoming.input_nr}", "backward"),
        Part(
            f"  {format_shape(incoming.shape)}  {arrived} of {incoming.expected} arrived", "muted"
        ),
    ]


def _contributions(incoming: Incoming, snapshot: Snapshot) -> list[Entry]:
    return [
        Entry("+", _edge_label(snapshot, one.producer, one.output_nr), _value_parts(one.value))
        for one in incoming.contributions
    ]


def _missing(incoming: Incoming, snapshot: Snapshot, edges: PlanEdges, index: int) -> list[Entry]:
    """One entry for each producer that has not delivered yet."""
    graph = snapshot.graph
    return [
        Entry(
            "·",
            _edge_label(snapshot, graph.edge_sources[edge], graph.edge_output_nrs[edge]),
            [Part("not yet", "muted")],
            "muted",
        )
        for edge in edges.producers_of(index)
        if graph.edge_input_nrs[edge] == incoming.input_nr
        and graph.edge_sources[edge] >= snapshot.position
    ]


def _edge_label(snapshot: Snapshot, producer: int | None, output_nr: int) -> str:
    if producer is None:
        return "seed gradient"
    return f"{node_label(snapshot, producer, MAX_NAME)} out {output_nr}"


def _total(incoming: Incoming) -> Entry:
    arrived = incoming.arrived
    complete = arrived >= incoming.expected
    if incoming.total is not None:
        shown = _value_parts(incoming.total)
    elif arrived and complete:
        shown = [Part(UNDEFINED, "muted")]
    else:
        shown = [Part("nothing yet", "muted")]
    return Entry("=", "sum" if complete else "sum so far", shown, "strong")


def _leaf_gradient(snapshot: Snapshot, index: int) -> list[Entry]:
    """``.grad`` before and now, for the node that adds to it."""
    leaf = next((leaf for leaf in snapshot.leaves if leaf.index == index), None)
    if leaf is None:
        return []
    return [
        Entry(" ", label, [Part("None", "muted")] if value is None else _value_parts(value), "leaf")
        for label, value in ((".grad before", leaf.before), (".grad now", leaf.now))
    ]


def _outgoing(outgoing: Outgoing, snapshot: Snapshot) -> Entry:
    shown = _value_parts(outgoing.value) if outgoing.sent else [Part("not sent yet", "muted")]
    if outgoing.target is None:
        return Entry(str(outgoing.output_nr), "→ needs no gradient", [], "muted")
    label = f"→ {node_label(snapshot, outgoing.target, MAX_NAME)}"
    if outgoing.input_nr:
        label += f" in {outgoing.input_nr}"
    return Entry(str(outgoing.output_nr), label, shown)


def _value_parts(value: Value | None) -> Line:
    """Short description, then the first elements; undefined is a word, never a number."""
    if value is None:
        return [Part(UNDEFINED, "muted")]
    short = value_part(value)
    if value.array.size == 1:
        return [short]
    return [Part(fit(short.text, 14), short.style), Part(value.text(4), "muted")]
