"""What a plot shows of a run, before anything is drawn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np

from gradstep.recording.facts import CallFacts, Header, Leaf
from gradstep.recording.run import Run
from gradstep.text import plural, printable
from gradstep_viz.errors import NothingToDraw
from gradstep_viz.picture.formatting import listed
from gradstep_viz.plots.columns import MOST_COLUMNS, Columns, columns_of
from gradstep_viz.plots.flow import FlowLine, flow_of, some_of
from gradstep_viz.plots.maps import Map, map_of
from gradstep_viz.plots.rows import MOST_ROWS, Row, forward_order, matching, rows_of
from gradstep_viz.plots.series import Quantity, Series, all_series
from gradstep_viz.plots.shading import Shading, shading_of
from gradstep_viz.plots.sizes import Measure, Sizes, State, sizes_of
from gradstep_viz.plots.spreads import Spread, spreads_of

What = Literal["rms", "update", "nan", "loss", "memory", "time"]
QUANTITIES: Final[tuple[Quantity, ...]] = ("loss", "memory", "time")
Progress = Callable[[int, int], None]
"""Hears of how many calls the leaves are read, and of how many."""


class Panel(NamedTuple):
    """A quantity over the calls; ``others`` lines of the program are left out."""

    quantity: Quantity
    series: Sequence[Series]
    others: int


class Remark(NamedTuple):
    """A sentence above a plot; ``is_alert`` where something is wrong."""

    text: str
    is_alert: bool = True


@dataclass(frozen=True)
class Contents:
    """What a plot shows.

    Attributes:
        title: of which run.
        remarks: what is to be seen at once.
        panels: quantities of calls.
        columns: the calls of the x axis.
        map: the sizes of leaves; ``shading`` is None where they are not to be told apart.
        flow, spreads: what stands beside the map.
        calls: the calls that were recorded, by index.
        leaves: all leaves, by number.
    """

    what: What | None
    title: str
    columns: Columns
    calls: Mapping[int, CallFacts]
    leaves: Sequence[Leaf]
    panels: Sequence[Panel] = ()
    map: Map | None = None
    shading: Shading | None = None
    flow: Sequence[FlowLine] = ()
    spreads: Sequence[Spread] = ()
    remarks: Sequence[Remark] = ()
    notes: tuple[str, ...] = ()


def contents_of(
    run: Run,
    what: What | None = None,
    of: Sequence[str] = (),
    wanted: Callable[[CallFacts], bool] = lambda call: True,
    title: str | None = None,
    progress: Progress = lambda done, count: None,
    most_columns: int = MOST_COLUMNS,
    most_rows: int = MOST_ROWS,
) -> Contents:
    """Read what a plot of ``run`` shows.

    Args:
        what: one thing; by default the loss, the size of gradients, and the update-to-weight ratio.
        of: patterns of the leaves, see :func:`~gradstep_viz.plots.rows.matching`.
        wanted: which calls.
        most_columns, most_rows: where there are more calls or leaves, neighbours share a cell.

    Raises:
        NothingToDraw: nothing of that was recorded.
        UnknownNode: no leaf matches.
    """
    calls = [call for call in run.calls() if wanted(call)]
    if not calls:
        which = "such call" if run.indices else "call"
        raise NothingToDraw(f"no {which} was recorded")
    chosen = set(matching(run.leaves, of))
    title = title_of(run.header, calls) if title is None else printable(title)
    known = {call.index: call for call in calls}
    notes = tuple(map(printable, run.notes))
    if what in QUANTITIES:
        series, others = all_series(calls, what, most_columns)
        if not series:
            raise NothingToDraw(f"the recording has no {what} of any call", remedy=_REMEDY[what])
        columns = columns_of([call.index for call in calls], most=most_columns)
        panels = [Panel(what, series, others)]
        return Contents(what, title, columns, known, run.leaves, panels, notes=notes)

    measures: tuple[Measure, ...] = (
        ("rms", "update") if what is None else (("update",) if what == "update" else ("rms",))
    )
    read = sizes_of(run, measures, calls, chosen, lambda done: progress(done, len(calls)))
    main = read[measures[0]]
    panels = []
    if what is None:
        series, others = all_series(calls, "loss", most_columns)
        panels = [Panel("loss", series, others)] if series else []
    indices = [call.index for call in calls]
    if not len(main):
        if not panels:
            raise NothingToDraw(
                "the leaves of no call were recorded", remedy="record with --values leaves"
            )
        return Contents(
            what,
            title,
            columns_of(indices, most=most_columns),
            known,
            run.leaves,
            panels,
            notes=notes,
        )
    full = [index for index in run.full if index in known]
    rows = rows_of(run.leaves, forward_order(run, full, set(main.leaves.tolist())), most_rows)
    columns = columns_of(indices, main.recorded.tolist(), most_columns)
    shown = map_of(rows, columns, main)
    shading = None
    if what != "nan":
        shading = shading_of(shown.values[shown.states == State.SIZE])
    flow: Sequence[FlowLine] = ()
    spreads: Sequence[Spread] = ()
    if what == "rms":
        flow = flow_of(run, rows, [known[index] for index in some_of(main.recorded.tolist())])
    elif what != "nan":
        spreads = spreads_of(rows, read["update"])
    # fmt: off
    remarks = [
        *_first(main, run.leaves, what), *_jumps(main, run.leaves), *_zero_since(main, run.leaves),
        *_never(run, rows, read.get("update")),
    ]
    return Contents(
        what, title, columns, known, run.leaves, panels, shown, shading, flow, spreads, remarks,
        notes,
    )
    # fmt: on


_REMEDY: Final[Mapping[str, str]] = {
    "loss": "backward() was not called on a single number",
    "memory": "record the run again",
    "time": "record the run again",
}


def title_of(header: Header, calls: Sequence[CallFacts]) -> str:
    """Name a run by its program, and say how many calls were recorded.

    >>> title_of(Header(("runs/train.py", "--lr", "1")), [])
    'train.py --lr 1: no calls'
    >>> title_of(Header(("train.py",), rank=1, size=2), [])
    'train.py, rank 1: no calls'
    """
    words = [os.path.basename(word) if os.path.isabs(word) or not at else word
             for at, word in enumerate(header.command)]  # fmt: skip
    name = printable(" ".join(words))[:60]
    if name and header.size > 1:
        name += f", rank {header.rank}"
    last = calls[-1].index if calls else 0
    told = plural(len(calls), "call") if calls else "no calls"
    if calls and len(calls) < last - calls[0].index + 1:
        told += f" of {last - calls[0].index + 1:,} recorded"
    return f"{name}: {told}" if name else told


def _first(sizes: Sizes, leaves: Sequence[Leaf], what: What | None) -> list[Remark]:
    """Say where each kind of trouble came first."""
    remarks = []
    for state, kind in ((State.NAN, "NaN"), (State.INF, "Inf")):
        places = np.flatnonzero(sizes.states == state)
        if not len(places):
            continue
        call = int(sizes.calls[places[0]])
        names = _names(leaves, sizes.leaves[places[sizes.calls[places] == call]][::-1])
        remarks.append(Remark(f"{kind} first in call {call:,}: {listed(names)}"))
    if what == "nan" and not remarks:
        told = f"no NaN or Inf in the gradients of {plural(len(sizes.recorded), 'call')}"
        remarks.append(Remark(told, is_alert=False))
    return remarks


def _jumps(sizes: Sizes, leaves: Sequence[Leaf]) -> list[Remark]:
    """Say where sizes jump first, and in how many calls."""
    calls = sizes.calls[sizes.jumps]
    if not len(calls):
        return []
    first = int(calls[0])
    names = _names(leaves, sizes.leaves[sizes.jumps & (sizes.calls == first)])
    count = len(np.unique(calls))
    more = f", and {plural(count - 1, 'call')} more with jumps" if count > 1 else ""
    return [Remark(f"jump in call {first:,}: {listed(names)}{more}")]


def _zero_since(sizes: Sizes, leaves: Sequence[Leaf]) -> list[Remark]:
    """Say which leaves became 0 and stayed so to the end, from which call on."""
    since: dict[int, list[int]] = {}
    for leaf in np.unique(sizes.leaves).tolist():
        mine = np.flatnonzero((sizes.leaves == leaf) & sizes.known)
        nonzero = np.flatnonzero(sizes.states[mine] != State.ZERO)
        if len(nonzero) and len(mine) - nonzero[-1] > FEWEST_ZEROS:
            since.setdefault(int(sizes.calls[mine[nonzero[-1] + 1]]), []).append(leaf)
    return [
        Remark(
            f"{listed(_names(leaves, some))} {'is' if len(some) == 1 else 'are'} 0 "
            f"from call {call:,} on"
        )
        for call, some in sorted(since.items())[:_MOST_ALIKE]
    ]


def _names(leaves: Sequence[Leaf], numbers: Iterable[int]) -> list[str]:
    return [printable(leaves[int(number)].name) for number in numbers]


FEWEST_ZEROS: Final = 3
"""So many calls in a row with a gradient of 0, up to the end, are worth a sentence."""
_MOST_ALIKE: Final = 3
"""So many sentences of one kind are told."""


def _never(run: Run, rows: Sequence[Row], updates: Sizes | None) -> list[Remark]:
    """Say which leaves never change, and which of them no optimizer holds."""
    if updates is None:
        return []
    held = {
        facts.leaf: facts.optimizer
        for facts in (run.of_leaves(int(updates.recorded[-1])) if len(updates.recorded) else ())
    }
    never: dict[bool, list[str]] = {}
    for leaf in (leaf for row in rows for leaf in row.leaves):
        states = updates.states[updates.leaves == leaf]
        known = states[states != State.NONE]
        if len(known) and (known == State.ZERO).all():
            never.setdefault(held.get(leaf) == "", []).append(printable(run.leaves[leaf].name))
    return [
        Remark(
            f"{listed(names)} never change{'s' if len(names) == 1 else ''}"
            + ("; no optimizer holds " + ("it" if len(names) == 1 else "them") if free else "")
        )
        for free, names in sorted(never.items(), reverse=True)
    ]


SAID: Final[Mapping[What | None, str]] = {
    None: "rms of .grad when the call ended",
    "rms": "rms of .grad when the call ended",
    "nan": "NaN and Inf in .grad when the call ended",
    "update": "rms of the last update / rms of the leaf",
    "loss": "loss",
    "memory": "memory in use when the call ended",
    "time": "time of the call, without the time of watching it",
}
"""What a part of a plot shows."""
_WHAT = {
    None: "the size of gradients over a run, with the loss and the update-to-weight ratio",
    "rms": "the size of gradients over a run, and the gradient flow in a few calls",
    "update": "the update-to-weight ratio over a run",
    "nan": "NaN and Inf in gradients over a run",
    "loss": "the loss over a run",
    "memory": "the memory in use over a run",
    "time": "the time of the calls of a run",
}


def describe(contents: Contents) -> str:
    """Say what a plot shows."""
    parts = [f"A plot of {_WHAT[contents.what]}: {plural(len(contents.calls), 'call')}"]
    if contents.map is not None:
        leaves = sum(len(row.leaves) for row in contents.map.rows)
        parts[0] += f", {plural(leaves, 'leaf', 'leaves')}"
    return ". ".join([*parts, *(remark.text for remark in contents.remarks)]) + "."
