"""The flow of the pass: how large the gradient is at each of its nodes."""

from __future__ import annotations

from bisect import bisect_right

from gradstep.graph.statistics import format_number
from gradstep_tui.app.sections.page import NodeTarget, Page, ScreenView, Target, sentence
from gradstep_tui.app.widgets.charts import chart, chart_column, chart_rows, chart_width
from gradstep_tui.app.widgets.text import Line, Part, node_label


def page(view: ScreenView) -> Page:
    """Return a chart: nodes to the right, in the order in which they run, and the root mean square
    of what arrived upwards, in decades; a column that stands for several nodes has all of them."""
    flow, length = view.notes.flow, view.snapshot.length
    if not length:
        return sentence(view, "no node runs in this pass")
    count = min(length, chart_width(view.width))
    starts = [column * length // count for column in range(count)]
    stops = [*starts[1:], length]
    sizes = [
        [known.rms for node in range(*ends) if (known := flow.known(node)) is not None]
        for ends in zip(starts, stops, strict=True)
    ]
    cursor = bisect_right(starts, view.node) - 1
    lines = chart(sizes, chart_rows(view.height), cursor, (1, length), "node")

    def along(step: int) -> int:
        return starts[max(0, min(count - 1, cursor + step))]

    def target(line: int, column: int) -> Target | None:
        place = chart_column(column)
        return NodeTarget(starts[place]) if 0 <= place < count else None

    return Page(lines, _heading(view), target=target, along=along)


def _heading(view: ScreenView) -> Line:
    """Say what the selected node received, and how far the pass was looked at."""
    flow, position = view.notes.flow, view.snapshot.position
    known = flow.known(view.node)
    if known is None:
        size = "has not run" if view.node >= position else "not looked at yet"
    else:
        size = "undefined" if known.rms is None else f"rms {format_number(known.rms)}"
        if known.factor is not None:
            size += f", sends on {format_number(known.factor)} times that"
    looked = "" if flow.looked >= position else f"  {flow.looked:,} of {position:,} looked at"
    label = node_label(view.snapshot, view.node, 30)
    return [Part(f" {label}", "text"), Part(f"  {size}{looked}", "muted")]
