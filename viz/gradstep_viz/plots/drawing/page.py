"""The page around a plot, on which every cell of the map says what it is, and has an address."""

from __future__ import annotations

from typing import Any

from gradstep.graph.statistics import format_number
from gradstep.text import printable
from gradstep_viz.output.pages.frame import write_page
from gradstep_viz.picture.formatting import place
from gradstep_viz.plots.contents import Contents
from gradstep_viz.plots.drawing.canvas import Canvas
from gradstep_viz.plots.maps import Cell
from gradstep_viz.plots.sizes import State

_BODY = """\
<main>
{svg}</main>
<output id="said" aria-live="polite">{hint}</output>
<div id="tip" role="tooltip" hidden></div>"""
_HINT = "Point at a cell of the map, or move with the arrow keys; the address of the page names it."


def write_plot_page(contents: Contents, canvas: Canvas, svg: str, theme_name: str) -> str:
    """Write the page around the SVG of a plot."""
    data = _data(contents, canvas)
    body = _BODY.format(svg=svg, hint=_HINT if data["cells"] else "")
    return write_page("plot", [body], data, contents.title, theme_name)


def _data(contents: Contents, canvas: Canvas) -> dict[str, Any]:
    shown = contents.map
    if shown is None:
        return {"cells": []}
    ((box, _),) = canvas.cells
    rows, columns = shown.states.shape
    cells = [[shown[row, column] for column in range(columns)] for row in range(rows)]
    named = sorted({cell.call for row in cells for cell in row if cell.call >= 0})
    return {
        "box": [round(number, 3) for number in box],
        "leaves": [printable(leaf.name) for leaf in contents.leaves],
        "rows": [row.name for row in shown.rows],
        "columns": [shown.columns.title(column) for column in range(columns)],
        "calls": {index: _call(contents, index) for index in named},
        "cells": [
            [
                [cell.call, cell.leaf, said_of(cell, contents.what == "update")]
                if cell.call >= 0
                else said_of(cell, False)
                for cell in row
            ]
            for row in cells
        ],
    }


def said_of(cell: Cell, is_update: bool) -> str:
    """Say what is known of a cell.

    >>> said_of(Cell(State.SIZE, 0.25, True, 0, 7, 3), False)
    'rms 0.25, a jump; the worst of 3'
    """
    name = "update / weight" if is_update else "rms"
    words = {
        State.UNRECORDED: "not recorded",
        State.ABSENT: "the call did not reach it",
        State.NONE: "the update is unknown" if is_update else "no gradient arrived",
        State.SIZE: f"{name} {format_number(cell.value)}",
        State.ZERO: "it did not change" if is_update else "all 0",
        State.INF: f"Inf, {name} of the others {format_number(cell.value)}",
        State.NAN: f"NaN, {name} of the others {format_number(cell.value)}",
    }[cell.state]
    if not cell.value and cell.state in (State.INF, State.NAN):
        words = words.partition(",")[0]
    jump = ", a jump" if cell.jumps else ""
    return f"{words}{jump}" + (f"; the worst of {cell.among:,}" if cell.among > 1 else "")


def _call(contents: Contents, index: int) -> str:
    call = contents.calls[index]
    at = "" if call.line is None else f" at {place(call.line)}"
    loss = "" if call.loss is None else f", loss {format_number(call.loss)}"
    return printable(f"call {index:,}: {call.title}{at}{loss}")
