"""The numbers of a node: its gradient, what it keeps from the forward pass, time and bytes.

Of a tensor: statistics, elements, a histogram, and blocks for a matrix.
"""

from __future__ import annotations

import numpy as np

from gradstep.debugger.snapshot import NodeDetail, Value
from gradstep.debugger.snapshot.value import NOT_RECORDED
from gradstep.debugger.snapshot.wording import counts, extremes
from gradstep.graph.statistics import format_bytes
from gradstep_tui.app.sections.of_node.forward import forward_lines, numbers_lines
from gradstep_tui.app.sections.of_node.gradient import title_line
from gradstep_tui.app.sections.of_node.saved import saved_lines
from gradstep_tui.app.sections.page import Page, ScreenView
from gradstep_tui.app.widgets.charts import heat_map_lines, histogram_lines
from gradstep_tui.app.widgets.text import Line, Part, StyleName, is_accumulate, shape_text

FEW = 8  # elements that are written out in a row
MOST_ROWS = 8
MOST_ELEMENTS = 10_000  # a clipboard is not a file


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
    """Return the gradient that arrived at a node, each element in as many digits as tell it from
    all others of its dtype; "" when there is none.

    Raises:
        ValueError: it has too many elements.
    """
    total = next((each.total for each in detail.incoming if each.total is not None), None)
    if total is None:
        return ""
    if not total.has_numbers:
        raise ValueError(NOT_RECORDED)
    size = total.size
    if size > MOST_ELEMENTS:
        raise ValueError(f"{size:,} elements are too many to copy; dump writes them to a file")
    return np.array2string(total.array, separator=", ", threshold=size + 1, floatmode="unique")
