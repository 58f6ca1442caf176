"""The gradient of the selected leaf, or of a module, over the calls of a recording."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from gradstep.graph.addresses import in_scope
from gradstep.graph.statistics import format_number
from gradstep.recording.errors import RecordingError
from gradstep.recording.facts import LeafFacts
from gradstep.recording.run import Run
from gradstep.text import printable
from gradstep_tui.app.sections.page import Page, ScreenView, sentence
from gradstep_tui.app.widgets.charts import TROUBLE, decades
from gradstep_tui.app.widgets.text import Line, Part, fit

LABEL = 9  # of the axis of sizes
FEWEST, MOST = 4, 12  # rows between the axes


def page(view: ScreenView) -> Page:
    """Return a chart: calls to the right, the root mean square of ``.grad`` upwards, in decades."""
    call = view.session.backward_call
    run: Run | None = getattr(call, "run", None)
    if run is None:
        return sentence(view, "only a recording knows its other calls: gradstep record")
    try:
        return _page(view, run, call.index)  # type: ignore[attr-defined]  # of a recorded call
    except RecordingError as error:
        return sentence(view, str(error))


def _page(view: ScreenView, run: Run, here: int) -> Page:
    what, leaves = _chosen(view, run)
    columns = _sample(run.described, max(view.width - LABEL - 2, 1), here)
    if not leaves or not columns:
        return sentence(view, "the leaves of no call were recorded")
    sizes = [_size(run.of_leaves(index), leaves) for index in columns]
    heading = f" {printable(what)}: rms of .grad in {len(columns):,} of {len(run.indices):,} calls"
    rows = max(FEWEST, min(MOST, view.height - 4))
    return Page([*_chart(sizes, rows), *_axis(columns, here)], [Part(heading, "muted")])


def _chosen(view: ScreenView, run: Run) -> tuple[str, frozenset[int]]:
    """Return the name of the selected leaf or module, and the numbers of its leaves in the
    recording; outside of all modules, all leaves."""
    leaf = next((each.name for each in view.snapshot.leaves if each.index == view.node), None)
    if leaf is not None:
        return leaf, frozenset(each.number for each in run.leaves if each.name == leaf)
    scope = view.modules.scope_of(view.node)
    inside = [each.number for each in run.leaves if in_scope(each.name, scope)] if scope else []
    if inside:
        return scope, frozenset(inside)
    return "all leaves", frozenset(each.number for each in run.leaves)


def _sample(described: Sequence[tuple[int, bool]], room: int, here: int) -> list[int]:
    """Return calls that are spread evenly; of those that a column stands for, the one where the
    session is, or the first with something wrong, or the last; of the first column the first."""
    columns = min(room, len(described))
    sample = []
    for column in range(columns):
        start, end = (len(described) * each // columns for each in (column, column + 1))
        part = described[start:end]
        wrong = [index for index, troubled in part if troubled]
        is_here = any(index == here for index, _ in part)
        sample.append(here if is_here else wrong[0] if wrong else part[-1 if column else 0][0])
    return sample


def _size(facts: Sequence[LeafFacts], leaves: Collection[int]) -> float | None:
    """Return the root mean square of the gradients of some leaves, NaN where one is not finite, and
    None without any."""
    known = [each.after for each in facts if each.leaf in leaves and each.after is not None]
    if any(each.trouble for each in known):
        return math.nan
    count = sum(each.size for each in known)
    return math.sqrt(sum(each.rms**2 * each.size for each in known) / count) if count else None


def _chart(sizes: Sequence[float | None], rows: int) -> Iterator[Line]:
    low, high = decades(sizes)
    low, high = math.floor(low), max(math.ceil(high), math.floor(low) + 1)
    places = [_row(each, low, high, rows) for each in sizes]
    for row in range(rows - 1, -1, -1):
        power = low + (high - low) * row / (rows - 1)
        has_label = row in (0, rows - 1) or power.is_integer()
        label = format_number(10.0**power) if has_label else ""
        line = [Part(fit(label, LABEL - 1, right=True) + (" ┤" if has_label else " │"), "muted")]
        for size, place in zip(sizes, places, strict=True):
            if place != row:
                line.append(Part(" "))
            elif size == 0:
                line.append(Part("0", "trouble"))
            else:
                bad = not math.isfinite(size or 0.0)
                line.append(Part(TROUBLE, "trouble") if bad else Part("•", "backward"))
        yield line


def _row(size: float | None, low: int, high: int, rows: int) -> int:
    """Return the row of a size, the top one where it is not finite, -1 where it is unknown."""
    if size is None:
        return -1
    if not math.isfinite(size):
        return rows - 1
    if not size:
        return 0
    return round((math.log10(size) - low) / (high - low) * (rows - 1))


def _axis(columns: Sequence[int], here: int) -> Iterator[Line]:
    ticks = "".join("▲" if index == here else "─" for index in columns)
    yield [Part(" " * LABEL + "└" + ticks, "muted")]
    first, last = f"{columns[0]:,}", f"{columns[-1]:,}"
    between = "call".center(max(6, len(columns) - len(first) - len(last)))
    yield [Part(f"{' ' * LABEL} {first}{between}{last}", "muted")]
