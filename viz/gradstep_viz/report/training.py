"""Losses and gradients over the calls of a run, and what stands out there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from gradstep.findings.report import Report
from gradstep.graph.statistics import format_number
from gradstep.text import listed, plural
from gradstep_viz.picture.formatting import place
from gradstep_viz.plots.contents import Contents, Panel
from gradstep_viz.plots.maps import Map
from gradstep_viz.plots.series import MOST_SERIES, Series
from gradstep_viz.plots.sizes import State, equal_neighbours
from gradstep_viz.report.charts import Chart, Event, Line, draw_chart

_MOST_JUMPS: Final = 3
_FEWEST_ZEROS: Final = 3
"""Calls at the end whose gradients are 0, of a leaf of which that is told."""


def training_section(report: Report, contents: Contents | None) -> str:
    """Write the plots of a run."""
    if contents is None:
        return ""
    parts = [draw_chart(_loss_chart(contents, panel)) for panel in contents.panels]
    if contents.map is not None:
        parts += _gradients(contents, contents.map)
    return "\n".join(parts)


def _loss_chart(contents: Contents, panel: Panel) -> Chart:
    said = [sentence for series in panel.series for sentence in _of_losses(series, panel)]
    if panel.others:
        said.append(f"{plural(panel.others, 'line')} of the program with fewer calls left out.")
    lines = [
        Line(series.name if len(panel.series) > 1 else "", series.mean, series.least,
             series.greatest, series.troubled > 0)
        for series in panel.series
    ]  # fmt: skip
    events = [
        Event(int(at), "not finite")
        for series in panel.series
        for at in np.flatnonzero(series.troubled)[:1]
    ]
    return Chart("Loss", contents.columns, lines, events, said)


def _of_losses(series: Series, panel: Panel) -> Iterator[str]:
    known = np.flatnonzero(np.isfinite(series.mean))
    of = f" of {series.name}" if len(panel.series) > 1 else ""
    if len(known):
        first, last = float(series.mean[known[0]]), float(series.mean[known[-1]])
        least, most = int(np.nanargmin(series.least)), int(np.nanargmax(series.greatest))
        if len(known) == 1:
            yield f"The loss{of} is {format_number(first)}."
        else:
            yield (
                f"The loss{of} goes from {format_number(first)} to {format_number(last)}; the "
                f"lowest is {format_number(float(series.least[least]))} "
                f"({series.columns.title(least)}), the highest "
                f"{format_number(float(series.greatest[most]))} ({series.columns.title(most)})."
            )
    if series.troubled.any():
        at = int(np.flatnonzero(series.troubled)[0])
        yield (
            f"The loss{of} is NaN or infinite in {plural(int(series.troubled.sum()), 'call')}, "
            f"first in {series.columns.title(at)}."
        )


def _gradients(contents: Contents, shown: Map) -> Iterator[str]:
    values = np.where(shown.states == State.SIZE, shown.values, np.nan)
    said = [remark.text + "." for remark in contents.remarks]
    said += _of_sizes(shown, values)
    events = []
    for state, word in ((State.NAN, "NaN"), (State.INF, "Inf")):
        places = np.flatnonzero((shown.states == state).any(axis=0))
        events += [Event(int(places[0]), word)] if len(places) else []
    rows = sum(len(row.leaves) for row in shown.rows)
    name = f"Gradients: median of {plural(rows, 'leaf', 'leaves')}, smallest to largest"
    if rows == 1:
        name = "Gradient"
    lines = list(_lines_of(contents, shown))
    yield draw_chart(Chart(f"{name} (rms)", shown.columns, lines, events, said, is_log=True))


def _lines_of(contents: Contents, shown: Map) -> Iterator[Line]:
    """Yield the sizes of gradients in the calls of each line of the program."""
    sizes, count = shown.sizes, len(shown.columns)
    numbers, firsts, counts = np.unique(sizes.lines, return_index=True, return_counts=True)
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_SERIES])
    columns = shown.columns.of(sizes.calls)
    for number, first in zip(numbers[kept], firsts[kept], strict=True):
        least, middle, greatest = (np.full(count, np.nan) for _ in range(3))
        of_line = sizes.lines == number
        places = np.flatnonzero(of_line & (sizes.states == State.SIZE))
        places = places[np.lexsort((sizes.values[places], columns[places]))]
        for part in equal_neighbours(columns[places]):
            known = sizes.values[places[part]]
            at = int(columns[places[part.start]])
            least[at], middle[at], greatest[at] = known[0], known[(len(known) - 1) // 2], known[-1]
        breaks = np.zeros(count, np.bool_)
        breaks[columns[of_line & (sizes.states >= State.INF)]] = True
        line = contents.calls[int(sizes.calls[first])].line
        name = "" if line is None else place(line)
        yield Line(name, middle, least, greatest, breaks)


def _of_sizes(shown: Map, values: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> list[str]:
    said = []
    names = [row.name for row in shown.rows]
    last = np.flatnonzero(np.isfinite(values).any(axis=0))
    if len(last):
        column = values[:, last[-1]]
        low, high = int(np.nanargmin(column)), int(np.nanargmax(column))
        if low != high:
            said.append(
                f"At the end ({shown.columns.title(int(last[-1]))}), gradients reach from "
                f"{format_number(float(column[low]))} ({names[low]}) to "
                f"{format_number(float(column[high]))} ({names[high]})."
            )
    said += _of_zeros(shown)
    jumps = np.argwhere(shown.jumps)
    for row, at in jumps[np.argsort(jumps[:, 1], kind="stable")][:_MOST_JUMPS]:
        said.append(
            f"{names[row]} jumps in call {int(shown.calls[row, at]):,}: "
            f"{format_number(float(shown.values[row, at]))}, more than ten times any of the ten "
            "calls before."
        )
    if len(jumps) > _MOST_JUMPS:
        said.append(f"There are {len(jumps) - _MOST_JUMPS:,} more such jumps.")
    return said


def _of_zeros(shown: Map) -> Iterator[str]:
    """Say which gradients are 0 from a call on."""
    since: dict[str, list[str]] = {}
    for row, states in zip(shown.rows, shown.states, strict=True):
        sized = np.flatnonzero(states > State.NONE)
        others = np.flatnonzero(states[sized] != State.ZERO)
        first = 0 if not len(others) else int(others[-1]) + 1
        if len(sized) - first >= _FEWEST_ZEROS or (len(sized) and not len(others)):
            when = f"from {shown.columns.title(int(sized[first]))} on" if first else "in every call"
            since.setdefault(when, []).append(row.name)
    for when, names in since.items():
        which = "gradient of {} is" if len(names) == 1 else "gradients of {} are"
        yield f"The {which.format(listed(names))} 0 {when}."
