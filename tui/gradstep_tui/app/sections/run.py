"""The gradient of the selected leaf, or of a module, over the calls of a recording."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from gradstep.graph.addresses import in_scope
from gradstep.recording.errors import RecordingError
from gradstep.recording.facts import LeafFacts
from gradstep.recording.run import Run
from gradstep.text import printable
from gradstep_tui.app.sections.page import CallTarget, Page, ScreenView, Target, sentence
from gradstep_tui.app.widgets.charts import chart, chart_column, chart_rows, chart_width
from gradstep_tui.app.widgets.text import Part


def page(view: ScreenView) -> Page:
    """Return a chart: calls to the right, the root mean square of ``.grad`` upwards, in decades."""
    recorded = view.facts.recorded()
    if recorded is None:
        return sentence(view, "only a recording knows its other calls: gradstep record")
    try:
        return _page(view, recorded.run, recorded.call)
    except RecordingError as error:
        return sentence(view, str(error))


def _page(view: ScreenView, run: Run, here: int) -> Page:
    what, leaves = _chosen(view, run)
    columns = _sample(run.described, chart_width(view.width), here)
    if not leaves or not columns:
        return sentence(view, "the leaves of no call were recorded")
    sizes = [_size(run.of_leaves(index), leaves) for index in columns]
    heading = f" {printable(what)}: rms of .grad in {len(columns):,} of {len(run.indices):,} calls"
    lines = chart([[size] for size in sizes], chart_rows(view.height), columns.index(here)
                  if here in columns else None, (columns[0], columns[-1]), "call")  # fmt: skip

    def target(line: int, column: int) -> Target | None:
        place = chart_column(column)
        return CallTarget(run.call(columns[place]).option) if 0 <= place < len(columns) else None

    return Page(lines, [Part(f"{heading}; call K goes to one", "muted")], target=target)


def _chosen(view: ScreenView, run: Run) -> tuple[str, frozenset[int]]:
    """Return the name of the selected leaf or module, and the numbers of its leaves in the
    recording; outside of all modules, all leaves."""
    leaf = next((leaf.name for leaf in view.snapshot.leaves if leaf.index == view.node), None)
    if leaf is not None:
        return leaf, frozenset(facts.number for facts in run.leaves if facts.name == leaf)
    scope = view.modules.scope_of(view.node)
    inside = [leaf.number for leaf in run.leaves if in_scope(leaf.name, scope)] if scope else []
    if inside:
        return scope, frozenset(inside)
    return "all leaves", frozenset(leaf.number for leaf in run.leaves)


def _sample(described: Sequence[tuple[int, bool]], room: int, here: int) -> list[int]:
    """Return calls that are spread evenly; of those that a column stands for, the one where the
    session is, or the first with something wrong, or the last; of the first column the first."""
    columns = min(room, len(described))
    sample = []
    for column in range(columns):
        start, end = (len(described) * edge // columns for edge in (column, column + 1))
        part = described[start:end]
        wrong = [index for index, troubled in part if troubled]
        is_here = any(index == here for index, _ in part)
        sample.append(here if is_here else wrong[0] if wrong else part[-1 if column else 0][0])
    return sample


def _size(facts: Sequence[LeafFacts], leaves: Collection[int]) -> float | None:
    """Return the root mean square of the gradients of some leaves, NaN where one is not finite, and
    None without any."""
    known = [fact.after for fact in facts if fact.leaf in leaves and fact.after is not None]
    if any(stats.trouble for stats in known):
        return math.nan
    count = sum(stats.size for stats in known)
    return math.sqrt(sum(stats.rms**2 * stats.size for stats in known) / count) if count else None
