"""The gradient itself: statistics, elements, a histogram, and blocks for a matrix."""

from __future__ import annotations

import numpy as np

from autograd_core.dag.statistics import format_bytes, format_number, format_shape
from autograd_core.debug.snapshot import NodeDetail, Value
from tui.app.sections.of_node.gradient import title_line
from tui.app.sections.page import Page, View
from tui.app.widgets.charts import heat_map_lines, histogram_lines
from tui.app.widgets.text import Line, Part, is_accumulate

FEW = 8  # elements that are written out in a row
MOST_ROWS = 8
MOST_ELEMENTS = 10_000  # a clipboard is not a file


def page(view: View) -> Page:
    """The sum that arrived at each input of the selected node, and a leaf's ``.grad``."""
    detail, snapshot = view.session.detail(view.node), view.snapshot
    lines: list[Line] = [title_line(detail, snapshot)]
    for incoming in detail.incoming:
        name = f"in {incoming.input_nr}" if len(detail.incoming) > 1 else "in"
        if incoming.total is None:
            lines.append([Part(name, "backward"), Part("  no gradient, which is not 0", "muted")])
        else:
            lines += _tensor_lines(name, incoming.total, view.width)
    if is_accumulate(snapshot.graph.names[view.node]):
        leaf = next((each for each in snapshot.leaves if each.index == view.node), None)
        if leaf is not None and leaf.now is not None:
            lines += _tensor_lines(f"{leaf.name}.grad", leaf.now, view.width)
    return Page(lines)


def _tensor_lines(name: str, value: Value, width: int) -> list[Line]:
    array, stats = value.array, value.statistics
    size = format_bytes(array.nbytes)
    about = f"  {format_shape(value.shape)} {value.dtype}, {size}"
    lines: list[Line] = [[Part(name, "backward"), Part(about, "muted")]]
    if stats.size > 1:
        words = [
            f"rms {format_number(stats.rms)}",
            f"min {format_number(stats.minimum)}",
            f"max {format_number(stats.maximum)}",
            f"zero {format_number(100 * stats.zeros / stats.size)} %",
        ]
        bad = [f"{count} {word}" for count, word in ((stats.nans, "nan"), (stats.infs, "inf"))
               if count]  # fmt: skip
        lines.append([Part("  " + "  ".join(words)), Part("  " + "  ".join(bad), "trouble")])
    lines += _elements(value)
    if stats.size > FEW:
        lines += histogram_lines(value, width)
    if array.ndim >= 2 and stats.size > 1:
        lines.append([Part("  darker is larger, − is negative, ! is no number", "muted")])
        lines += heat_map_lines(value, width)
    return lines


def _elements(value: Value) -> list[Line]:
    if value.array.ndim < 2 or value.array.size == 0:
        return [[Part("  " + value.text(FEW))]]
    rows = value.array.reshape(-1, value.array.shape[-1])
    lines: list[Line] = [[Part("  " + Value(row).text(FEW))] for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        lines.append([Part(f"  … {len(rows) - MOST_ROWS:,} more rows", "muted")])
    return lines


def value_text(detail: NodeDetail) -> str:
    """The gradient that arrived at a node, as NumPy writes it; "" when there is none.

    Raises:
        ValueError: it has too many elements.
    """
    total = next((each.total for each in detail.incoming if each.total is not None), None)
    if total is None:
        return ""
    size = total.array.size
    if size > MOST_ELEMENTS:
        raise ValueError(f"{size:,} elements are too many to copy; print shows parts of them")
    return np.array2string(total.array, separator=", ", threshold=size + 1)
