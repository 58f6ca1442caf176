"""A plot in characters, as wide as a terminal: a chart of each quantity, and a row for each leaf in
which the height of a bar is the size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from gradstep.graph.statistics import format_number
from gradstep.text import plural
from gradstep_viz.picture.formatting import shorten
from gradstep_viz.picture.magnitude import SIGNS
from gradstep_viz.plots.columns import Columns
from gradstep_viz.plots.contents import SAID, Contents, Panel
from gradstep_viz.plots.maps import Cell, Map
from gradstep_viz.plots.series import FORMATS, SPREAD, Series
from gradstep_viz.plots.shading import Shading
from gradstep_viz.plots.sizes import Numbers, State

LEFT: Final = 26
"""The most cells for the names of leaves and the numbers of an axis."""
RIGHT: Final = 12
"""Cells for the last size of a leaf."""
MOST_ROWS: Final = 60
_HIGH: Final = 6
_FEWEST: Final = 8
_MARKS: Final = {
    State.NAN: ("N", "NaN"),
    State.INF: ("I", "Inf"),
    State.ZERO: ("0", "zero"),
    State.NONE: ("·", "no gradient arrived"),
    State.UNRECORDED: ("░", "not recorded"),
    State.ABSENT: (" ", ""),
}
JUMP: Final = "^"


def most_columns(width: int) -> int:
    """Return how many columns a plot has in so many cells."""
    return max(width - _left(width) - RIGHT, _FEWEST)


def _left(width: int) -> int:
    """Return how many of so many cells names and numbers have: fewer on a narrow terminal."""
    return max(min(LEFT, width // 3), 12)


def draw_text(contents: Contents, width: int) -> str:
    """Draw a plot whose contents have at most :func:`most_columns` of ``width``."""
    left, each = _left(width), max(most_columns(width) // len(contents.columns), 1)
    lines = [contents.title]
    lines += [("! " if remark.is_alert else "") + remark.text for remark in contents.remarks]
    for panel in contents.panels:
        lines += ["", *_panel(panel, contents.columns, each, left)]
    if contents.map is not None:
        lines += ["", *_map(contents, contents.map, each, width)]
    lines += _axis(contents.columns, each, max(contents.calls), left)
    if contents.map is not None:
        lines += _legend(contents, contents.map, width, left)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _panel(panel: Panel, columns: Columns, each: int, left: int) -> Iterator[str]:
    several = len(panel.series) > 1
    for series in panel.series:
        title = SAID[panel.quantity] + (f", {series.name}" if several else "")
        yield " " * left + title + (", the greatest of a column" if columns.width > 1 else "")
        yield from _chart(_in_columns(series, columns), FORMATS[panel.quantity], each, left)
    if panel.others:
        others = plural(panel.others, "line")
        yield f"{' ' * left}{others} of the program with fewer calls left out"


def _in_columns(series: Series, columns: Columns) -> Numbers:
    """Return the greatest number of a series in each column of the plot, NaN where there is none,
    and infinite where one is not finite."""
    values = np.full(len(columns), np.nan)
    middles = (series.columns.starts + series.columns.ends) // 2
    places = np.clip(columns.places(middles).astype(int), 0, len(columns) - 1)
    np.fmax.at(values, places, np.where(series.troubled > 0, np.inf, series.greatest))
    return values


def _chart(values: Numbers, write: Callable[[float], str], each: int, left: int) -> Iterator[str]:
    known = values[np.isfinite(values)]
    if not len(known):
        yield " " * left + "NaN or Inf throughout"
        return
    low, high = float(known.min()), float(known.max())
    ends = {0: write(low), _HIGH - 1: write(high)}
    if low > 0 and high > SPREAD * low:
        low, high, values = math.log10(low), math.log10(high), np.log10(values)
    share = (values - low) / (high - low or 1)
    for row in range(_HIGH - 1, -1, -1):
        label = ends.get(row, "")
        cells = "".join(_bar(float(one), row) * each for one in share)
        yield f"{label:>{left - 2}} {'┤' if label else '│'}{cells}"


def _bar(share: float, row: int) -> str:
    """Return what a column that is so high has in a row, counted from below."""
    if np.isposinf(share):
        return "N"
    if np.isnan(share):
        return " "
    eighths = 1 + round(share * (8 * _HIGH - 1)) - 8 * row
    return " " if eighths <= 0 else SIGNS[min(eighths, 8) - 1]


def _map(contents: Contents, shown: Map, each: int, width: int) -> Iterator[str]:
    left = _left(width)
    said = shorten(SAID[contents.what], width - left - len(" last"))
    yield f"{' ' * left}{said:<{each * len(contents.columns)}} last"
    for number, row in enumerate(shown.rows):
        cells = [shown[number, column] for column in range(len(contents.columns))]
        bars = "".join(_cell(cell, contents.shading) * each for cell in cells)
        yield f"{shorten(row.name, left - 2):>{left - 2}} │{bars} {_last(cells)}"


def _cell(cell: Cell, shading: Shading | None) -> str:
    if cell.state is not State.SIZE:
        return _MARKS[cell.state][0]
    if cell.jumps:
        return JUMP
    if shading is None:
        return SIGNS[3]
    shade = int(shading.of(np.array([cell.value]))[0])
    return SIGNS[shade * (len(SIGNS) - 1) // max(shading.count - 1, 1)]


def _last(cells: Sequence[Cell]) -> str:
    known = [cell for cell in cells if cell.state not in (State.UNRECORDED, State.ABSENT)]
    if not known:
        return ""
    cell = known[-1]
    if cell.state is State.SIZE:
        return format_number(cell.value)
    return {State.ZERO: "0", State.NAN: "NaN", State.INF: "Inf"}.get(cell.state, "none")


def _axis(columns: Columns, each: int, last_call: int, left: int) -> list[str]:
    wide = len(columns) * each
    first, last = f"{int(columns.starts[0]):,}", f"{last_call:,}"
    between = columns.said.center(max(wide - len(first) - len(last), len(columns.said) + 2))
    return [" " * (left - 1) + "└" + "─" * wide, " " * left + first + between + last]


def _legend(contents: Contents, shown: Map, width: int, left: int) -> list[str]:
    parts: list[str] = []
    if contents.shading is not None:
        low, high = contents.shading.ends
        parts.append(f"{SIGNS[0]} {low} … {SIGNS[-1]} {high}")
    if shown.jumps.any():
        parts.append(f"{JUMP} jump: ten times the ten before")
    for state, (mark, said) in _MARKS.items():
        if said and (shown.states == state).any():
            unknown = state is State.NONE and contents.what == "update"
            parts.append(f"{mark} {'the update is unknown' if unknown else said}")
    lines = parts[:1]
    for part in parts[1:]:
        if len(lines[-1]) + 3 + len(part) <= width - left:
            lines[-1] += f"   {part}"
        else:
            lines.append(part)
    return [" " * left + line for line in lines]
