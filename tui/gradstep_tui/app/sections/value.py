"""The numbers of a node: its gradient, what it keeps from the forward pass, time and bytes.

Of a tensor: statistics, elements, a histogram, and blocks for a matrix.
"""

from __future__ import annotations

import numpy as np

from gradstep.debugger.snapshot import NodeDetail, Saved, Snapshot, Value
from gradstep.debugger.snapshot.value import NOT_RECORDED
from gradstep.debugger.snapshot.wording import counts, described, extremes, of_statistics
from gradstep.graph.statistics import format_bytes, format_number
from gradstep.text import printable
from gradstep_tui.app.sections.gradient import title_line
from gradstep_tui.app.sections.page import Page, ScreenView
from gradstep_tui.app.sections.source import source_text
from gradstep_tui.app.widgets.charts import heat_map_lines, histogram_lines
from gradstep_tui.app.widgets.text import Line, Part, StyleName, fit, is_accumulate, shape_text

FEW = 8  # elements that are written out in a row
MOST_ROWS = 8
MOST_ELEMENTS = 10_000  # a clipboard is not a file
NAME_WIDTH = 10
LABEL_WIDTH = 14


def page(view: ScreenView) -> Page:
    """Return what arrived at each input of the selected node, a leaf's ``.grad``, the result of the
    forward op, and what was saved of it."""
    detail, snapshot = view.facts.detail(view.node), view.snapshot
    lines: list[Line] = [title_line(detail, snapshot)]
    for incoming in detail.incoming:
        name = f"in {incoming.input_nr}" if len(detail.incoming) > 1 else "in"
        if incoming.total is None:
            lines.append([Part(name, "backward"), Part("  no gradient, which is not 0", "muted")])
        else:
            lines += _tensor_lines(name, incoming.total, view.width)
    if is_accumulate(snapshot.graph.names[view.node]):
        leaf = snapshot.leaves.of(view.node)
        if leaf is not None and leaf.now is not None:
            lines += _tensor_lines(f"{leaf.name}.grad", leaf.now, view.width)
    lines += forward_lines(view)
    lines += saved_lines(detail.saved)
    return Page([*lines, *numbers_lines(view)])


def _tensor_lines(name: str, value: Value, width: int) -> list[Line]:
    stats = value.statistics
    size = format_bytes(value.nbytes)
    about = f"  {shape_text(value.shape)} {value.dtype}, {size}"
    lines: list[Line] = [[Part(name, "backward"), Part(about, "muted")]]
    if stats.size > 1:
        style: StyleName = "trouble" if stats.trouble else "text"
        lines += [[Part("  " + extremes(value))], [Part("  " + counts(value), style)]]
    if not value.has_numbers:
        return [*lines, [Part(f"  {NOT_RECORDED}", "muted")]]
    lines += _elements(value)
    if stats.size > FEW:
        lines += histogram_lines(value, width)
    if value.array.ndim >= 2 and stats.size > 1:
        lines.append([Part("  darker is larger, − is negative, ! is not a number", "muted")])
        lines += heat_map_lines(value, width)
    return lines


def _elements(value: Value) -> list[Line]:
    if value.array.ndim < 2 or value.array.size == 0:
        return [[Part("  " + value.text(FEW))]]
    outer = value.array.shape[:-1]
    rows = value.array.reshape(-1, value.array.shape[-1])
    shown = [[format_number(float(element)) for element in row[:FEW]] for row in rows[:MOST_ROWS]]
    width = max((len(text) for row in shown for text in row), default=0)
    labels = [
        f"[{', '.join(map(str, np.unravel_index(place, outer)))}]" for place in range(len(shown))
    ]
    label_width = max(map(len, labels), default=0)
    more = " …" if rows.shape[1] > FEW else ""
    lines: list[Line] = [
        [Part(f"  {label:>{label_width}} ", "muted"),
         Part("".join(f" {text:>{width}}" for text in row) + more)]
        for label, row in zip(labels, shown, strict=True)
    ]  # fmt: skip
    if len(rows) > MOST_ROWS:
        lines.append([Part(f"  … {len(rows) - MOST_ROWS:,} more rows", "muted")])
    return lines


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
    here = next(
        (incoming.total for incoming in detail.incoming if incoming.total is not None), None
    )
    senders = {one.producer for incoming in detail.incoming for one in incoming.contributions}
    before = [
        incoming.total.statistics.rms
        for sender in senders
        if sender is not None
        for incoming in view.facts.detail(sender).incoming
        if incoming.total is not None
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


def saved_lines(saved: tuple[Saved, ...]) -> list[Line]:
    """Return a heading, and one or more lines per tensor."""
    if not saved:
        return [[Part("saved", "saved"), Part("  nothing", "muted")]]
    total = format_bytes(sum(kept.nbytes for kept in saved))
    lines: list[Line] = [[Part("saved", "saved"), Part(f"  {total}", "muted")]]
    for kept in saved:
        lines += _saved_lines(kept)
    return lines


def _saved_lines(saved: Saved) -> list[Line]:
    shape = f"{shape_text(saved.shape)} {saved.dtype}  " if saved.dtype else ""
    line: Line = [Part("  " + fit(saved.name, NAME_WIDTH) + " "), Part(shape, "muted")]
    if saved.value is not None:
        first, *others = described(saved.value)
        style: StyleName = "trouble" if saved.value.statistics.trouble else "text"
        line.append(Part("" if others else first, style))
        if saved.value.size > 1:
            line.append(Part(saved.value.text(4), "muted"))
    lines = [line]
    if saved.value is not None and saved.value.size > 1:
        lines += [[Part("    " + text, style)] for text in (first, *others)]
    if saved.state == "freed":
        line.append(Part("freed by an earlier backward", "trouble"))
    elif saved.state == "packed":
        line.append(Part("packed by hooks", "muted"))
    elif saved.state == "changed":
        lines.append([Part("    ! changed in place since it was saved", "trouble")])
    word = "by" if saved.state == "freed" else "at"
    lines += [[Part(f"    {word} {source_text(source)}", "muted")] for source in saved.lines]
    return lines


def value_text(detail: NodeDetail) -> str:
    """Return the gradient that arrived at a node, each element in as many digits as tell it from
    all others of its dtype; "" when there is none.

    Raises:
        ValueError: it has too many elements.
    """
    total = next(
        (incoming.total for incoming in detail.incoming if incoming.total is not None), None
    )
    if total is None:
        return ""
    if not total.has_numbers:
        raise ValueError(NOT_RECORDED)
    size = total.size
    if size > MOST_ELEMENTS:
        raise ValueError(f"{size:,} elements are too many to copy; dump writes them to a file")
    return np.array2string(total.array, separator=", ", threshold=size + 1, floatmode="unique")
