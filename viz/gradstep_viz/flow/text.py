"""A picture of rows in plain words: as a listing for terminals, as a description for screen
readers, and as the one sentence that stands in for it where it cannot be seen."""

from __future__ import annotations

from typing import Final

from gradstep.graph.statistics import format_bytes
from gradstep.text import plural
from gradstep_viz.flow.lane_rows import HIDDEN, LaneRow, draw_row
from gradstep_viz.flow.lanes import port_numbers
from gradstep_viz.flow.layout import (
    MARKS,
    FlowPicture,
    extremes_text,
    parameters_text,
    shape_text,
    size_text,
)
from gradstep_viz.flow.rows import Row
from gradstep_viz.picture.magnitude import sparkline

MOST_DESCRIBED: Final = 60


def alternative_text(picture: FlowPicture) -> str:
    """Say in a sentence what the picture shows."""
    rows = [row for row in picture.table.rows if row.kind == "row"]
    of = f" of {picture.title}" if picture.title else ""
    starts = [f"{row.name or row.kind_text}: {row.note}" for row in rows if row.tone]
    trouble = f"; {'; '.join(starts[:3])}" if starts else ""
    return f"Flow{of}: {plural(len(rows), 'row')} from the inputs down{trouble}."


def describe_rows(picture: FlowPicture) -> str:
    """Describe the picture for a screen reader: what it is, then the rows one by one."""
    rows = picture.table.rows
    lines = [_described(row) for row in rows[:MOST_DESCRIBED]]
    if left := len(rows) - len(lines):
        lines.append(f"and {left:,} more")
    texts = [*picture.captions, "; ".join(lines), extremes_text(picture.table)]
    return " ".join(texts).strip()


def _described(row: Row) -> str:
    parts = [" ".join(filter(None, (row.name, row.kind_text, row.badge, row.note)))]
    if row.shapes_out and row.shapes_out[0]:
        parts.append("×".join(map(str, row.shapes_out[0])))
    known = [one for one in row.gradients if one is not None]
    if known and row.kind == "row":
        parts.append(f"gradient {size_text(known[0])}")
    return ", ".join(parts)


def write_flow_text(picture: FlowPicture) -> str:
    """Write one line per row, lanes at the left as in a git log."""
    rows, lanes = picture.table.rows, _lanes(picture)
    ports = {row: ",".join(map(str, known)) for row, known in port_numbers(picture.lanes).items()}
    if ports:
        wide = max(map(len, ports.values()))
        lanes = [f"{text}{ports.get(row, ''):<{wide}}" for row, text in enumerate(lanes)]
    sections = [picture.title] if picture.title else []
    sections += [*picture.captions, ""]
    cells: list[tuple[str, ...]] = [
        ("module or variable", "shape", "parameters", "gradient ↑", "saved")
    ]
    cells += [_cells(row) for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    for number, line in enumerate(cells):
        front = " " * len(lanes[0]) if not number else lanes[number - 1]
        name, *others = line
        shown = [f"{name:<{widths[0]}}"]
        shown += [
            f"{text:<{width}}" if column == 0 else f"{text:>{width}}"
            for column, (text, width) in enumerate(zip(others, widths[1:], strict=True))
            if width
        ]
        sections.append(f"{front} {'  '.join(shown)}".rstrip())
    if most := extremes_text(picture.table):
        sections += ["", most]
    return "\n".join(sections) + "\n"


def _cells(row: Row) -> tuple[str, ...]:
    name = "  " * row.depth + " ".join(
        filter(None, (row.name, row.kind_text, row.details, row.with_text, row.badge))
    )
    for one in row.extremes:
        name += f" {MARKS[one][0]}{' inside' if one in row.hidden else ''}"
    if row.note:
        name += f" {'!' if row.tone == 'alert' else '·'} {row.note}"
    ins, out = (shape_text(shapes) for shapes in (row.shapes_in, row.shapes_out))
    shape = f"{ins} → {out}" if ins and out else out
    if row.value:
        shape = f"= {' | '.join(filter(None, (row.value, row.other_value)))}"
    elif row.is_scalar:
        shape = "scalar"
    known = [one for one in row.gradients if one is not None]
    gradient = size_text(known[0]) if known else ""
    if len(known) > 1:
        gradient = f"{sparkline([one.rms for one in known])} {gradient}"
    other = next((one for one in row.others if one is not None), None)
    if other is not None and size_text(other) != gradient:
        gradient += f" | {size_text(other)}"
    return (
        name,
        shape,
        parameters_text(row) if row.parameters else "",
        gradient,
        format_bytes(row.saved) if row.saved else "recomputed" if row.is_recomputed else "",
    )


def _lanes(picture: FlowPicture) -> list[str]:
    """Draw the lanes of all rows, that nearest to the names at the right."""
    lanes, rows = picture.lanes, picture.table.rows
    last = lanes.number - 1
    before: list[list[int | None]] = [[None] * lanes.number for _ in rows]
    after: list[list[int | None]] = [[None] * lanes.number for _ in rows]
    joins: list[set[int]] = [set() for _ in rows]
    for (source, target), lane in lanes.links.items():
        if lane < 0:
            continue
        column = last - lane
        for row in range(source, target):
            after[row][column] = before[row + 1][column] = source
        for row in (source, target):
            if lane != lanes.of[row]:
                joins[row].add(column)
    drawn = []
    for row, (one, above, below) in enumerate(zip(rows, before, after, strict=True)):
        own = last - lanes.of[row] if row in lanes.of else HIDDEN
        to = tuple(sorted(joins[row]))
        lane_row = LaneRow(row, own, to, to, tuple(above), tuple(below), 0)
        cells = draw_row(lane_row, lanes.number, _sign(one))
        drawn.append("".join(cell.text for cell in cells))
    return drawn


def _sign(row: Row) -> str:
    if row.tone == "alert":
        return "!"
    return "◎" if row.is_output else "□" if row.kind == "input" else "●" if row.parameters else "○"
