"""The text of a table of events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_GAP = "  "
_NARROW = 12


def format_time(microseconds: float) -> str:
    """Write a time in the largest unit that it has one of.

    >>> format_time(12.5), format_time(2500.0), format_time(3e6)
    ('12.500us', '2.500ms', '3.000s')
    """
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    if microseconds >= 1e3:
        return f"{microseconds / 1e3:.3f}ms"
    return f"{microseconds:.3f}us"


def format_memory(count: int) -> str:
    """
    >>> format_memory(96), format_memory(-2048), format_memory(3 * 2**20)
    ('96 B', '-2.00 KB', '3.00 MB')
    """
    for size, unit in ((2**30, "GB"), (2**20, "MB"), (2**10, "KB")):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"


def table_text(
    events: Sequence[Any],
    *,
    total: float,
    memory: bool,
    name_width: int,
    shapes_width: int,
    header: str | None,
) -> str:
    """Write ``events`` as rows, with the share of ``total`` (in microseconds) that each took."""
    if not events:
        return ""
    titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    titles += ["CPU Mem", "Self CPU Mem"] if memory else []
    titles += ["# of Calls"]
    rows = [_cells(event, total, memory, name_width) for event in events]
    if any(event.input_shapes for event in events):
        titles += ["Input Shapes"]
        for row, event in zip(rows, events, strict=True):
            row.append(_cut(str(event.input_shapes or "[]"), shapes_width))
    widths = [
        max(_NARROW, *(len(row[column]) for row in [titles, *rows]))
        for column in range(len(titles))
    ]
    rule = _GAP.join("-" * width for width in widths)
    lines = [rule, _line(titles, widths), rule, *(_line(row, widths) for row in rows), rule]
    if header is not None:
        lines = ["=" * len(rule), header, *lines]
    return "\n".join([*lines, f"Self CPU time total: {format_time(total)}", ""])


def _cells(event: Any, total: float, memory: bool, name_width: int) -> list[str]:
    cells = [
        _cut(event.key, name_width),
        _share(event.self_cpu_time_total, total),
        format_time(event.self_cpu_time_total),
        _share(event.cpu_time_total, total),
        format_time(event.cpu_time_total),
        format_time(event.cpu_time),
    ]
    if memory:
        cells += [format_memory(event.cpu_memory_usage)]
        cells += [format_memory(event.self_cpu_memory_usage)]
    return [*cells, str(event.count)]


def _share(part: float, total: float) -> str:
    return f"{100 * part / total if total else 0.0:.2f}%"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
