"""The gradients of a backward pass, described on the nodes and edges where they went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from gradstep.contract.lookup import numbers_of
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.columns import SmallInts
from gradstep.graph.model import RETURNED, HookChange
from gradstep.graph.statistics import Statistics, format_statistics, plus
from gradstep.graph.statistics_columns import StatisticsColumns
from gradstep.graph.statistics_table import StatisticsTable
from gradstep.records import LEAF, HookCall, HookKind, Step, same_numbers


class HookPlace(NamedTuple):
    """The place where hooks of a node act: on what arrives at input ``nr``, on what leaves by
    output ``nr``, or on the ``.grad`` of a leaf."""

    at: Literal["input", "output", "grad"]
    nr: int = 0


HookChanges = Mapping[int, Mapping[HookPlace, HookChange]]
"""The changes of a pass that hooks made, by the index of their node."""


Describe = Callable[[list[Any]], StatisticsTable | Callable[[], StatisticsTable] | None]
"""Describes gradients, None of those that are not there: at once, or by what it returns; None where
it can do neither."""


class DescribedGradients:
    """The gradients of a pass, described in columns: of each step what arrived at its node, and
    what that sent.  Steps are given in parts, and not kept."""

    def __init__(self) -> None:
        self._tables: list[StatisticsTable | Callable[[], StatisticsTable]] = []
        self._parts: list[_Columns] = []
        self._special: list[_Special] = []
        self._count = 0  # of gradients that are described

    @classmethod
    def of(cls, steps: Sequence[Step], describe: Describe) -> DescribedGradients:
        """Describe the gradients of ``steps``."""
        described = cls()
        described.add(steps, describe)
        return described

    def add(self, steps: Sequence[Step], describe: Describe) -> bool:
        """Take the gradients of more ``steps``; returns whether ``describe`` could."""
        special = [
            step
            for step in steps
            if step.hooked[0] is None or step.captured or step.node.kind == LEAF
        ]
        shown = [step.hooked[0] if step.after is None else step.after for step in steps]
        shown += [gradient for step in steps for _, _, gradient, _, _ in step.deliveries]
        shown += [gradient for step in special for gradient in (step.before, step.hooked[0])]
        # what leaves a node mostly arrives as it is, and is described once
        numbers = np.fromiter(map(id, shown), np.int64, len(shown))
        _, firsts, rows = np.unique(numbers, return_index=True, return_inverse=True)
        different = [shown[at] for at in firsts.tolist()]
        table = describe([None if is_described(g) else g for g in different])
        if table is None:
            return False
        for at, gradient in enumerate(different):
            if isinstance(gradient, Statistics):
                assert isinstance(table, StatisticsTable)
                table[at] = gradient
        self._tables.append(table)
        places: SmallInts = (rows + self._count).astype(np.int32)
        self._count += len(different)
        counts = np.array([len(step.deliveries) for step in steps], np.int32)
        ends = len(steps), len(shown) - 2 * len(special)
        received, sent, told = np.split(places, ends)
        indices = np.array([step.index for step in steps], np.int32)
        self._parts.append(_Columns(indices, received, counts, sent))
        pairs = zip(special, told.reshape(-1, 2).tolist(), strict=True)
        self._special += [_special(step, *around) for step, around in pairs]
        return True

    def __iter__(self) -> Iterator[int]:
        """Yield the indices of the steps."""
        for part in self._parts:
            yield from part.indices.tolist()

    def enter(self, build: GraphBuilder) -> None:
        """Describe the gradients on their nodes and edges."""
        if not self._count:
            return
        tables = [one if isinstance(one, StatisticsTable) else one() for one in self._tables]
        table = StatisticsTable(0, np.concatenate([one.columns for one in tables], axis=1))
        self._tables = [table]
        indices, received, counts, sent = map(np.concatenate, zip(*self._parts, strict=True))
        node_rows = np.full(len(build.kinds), -1, np.int32)
        node_rows[indices] = received
        first, count = np.zeros((2, len(build.kinds)), np.int64)
        first[indices], count[indices] = np.cumsum(counts) - counts, counts
        sources, nrs = np.asarray(build.edge_sources), np.asarray(build.edge_output_nrs)
        edge_rows = np.full(len(sources), -1, np.int32)
        known = nrs < count[sources]
        edge_rows[known] = sent[first[sources[known]] + nrs[known]]
        build.statistics = StatisticsColumns(table, node_rows)
        build.edge_statistics = StatisticsColumns(table, edge_rows)
        is_unknown = table.columns[0, edge_rows] < 0
        build.edge_undefined.update(np.flatnonzero(is_unknown & (edge_rows >= 0)).tolist())
        for special in self._special:
            _tell_apart(build, special, table)


class _Columns(NamedTuple):
    """Of some steps their indices, the row of what arrived and how much they sent; of all that was
    sent, the row."""

    indices: SmallInts
    received: SmallInts
    counts: SmallInts
    sent: SmallInts


class _Special(NamedTuple):
    """A step to which nothing came, or that is a leaf's or the last one of its way; the rows of
    what its leaf had ``before`` and of what ``arrived``."""

    node: int
    is_undefined: bool
    is_leaf: bool
    is_returned: bool
    before: int
    arrived: int


def _special(step: Step, before: int, arrived: int) -> _Special:
    leaf, first = step.node.kind == LEAF, step.hooked[0]
    if leaf:
        is_returned = step.after is None and first is not None  # by ``grad``
    else:  # the pass ends here: its rule did not run
        is_returned = bool(step.captured) and not step.deliveries
    is_undefined = first is None and all(g is None for g in step.hooked)
    return _Special(step.index, is_undefined, leaf, is_returned, before, arrived)


UNKNOWN: Final = object()
"""In the place of a gradient that was described and dropped: it had no data."""


def is_described(gradient: Any) -> bool:
    """Return whether a step has the description of a gradient in its place."""
    return gradient is UNKNOWN or isinstance(gradient, Statistics)


def _tell_apart(build: GraphBuilder, special: _Special, table: StatisticsTable) -> None:
    """Tell what became of the gradient of a special step."""
    number = special.node
    if special.is_undefined:
        build.undefined.add(number)
    if special.is_returned:
        build.details[number] = RETURNED
        if not special.is_leaf and isinstance(build.formulas, list):
            build.formulas[number] = ""
    elif special.is_leaf:
        build.details[number] = _accumulation(table[special.before], table[special.arrived])


def add_hooks(build: GraphBuilder, changes: HookChanges) -> None:
    """Tell what hooks changed: on the edge along which the gradient came, or on the node, where
    they changed a sum of several."""
    if not changes:
        return
    leaving: dict[tuple[int, int], int] = {}
    arriving: dict[tuple[int, int], list[int]] = {}
    for id, kind in enumerate(build.edge_kinds):
        source, target = build.edge_sources[id], build.edge_targets[id]
        if kind == "gradient" and source in changes:
            leaving[source, build.edge_output_nrs[id]] = id
        if kind == "gradient" and target in changes:
            arriving.setdefault((target, build.edge_input_nrs[id]), []).append(id)
    for number, by_place in changes.items():
        for (at, nr), change in by_place.items():
            edges = arriving.get((number, nr), []) if at == "input" else []
            if at == "output":
                edges = [leaving[number, nr]] if (number, nr) in leaving else []
            if len(edges) == 1:
                _mark(build, edges[0], change, first=at == "output")
            elif at != "output":  # what leaves to nowhere is nobody's gradient
                build.hooks[number] = (*build.hooks.get(number, ()), change)


def _mark(build: GraphBuilder, edge: int, change: HookChange, *, first: bool) -> None:
    """Mark an edge; hooks of the node that sends come before those of the node that receives."""
    other = build.edge_hooks.get(edge)
    if other is not None:
        one, two = (change, other) if first else (other, change)
        change = HookChange((*one.hooks, *two.hooks), one.before, two.after)
    build.edge_hooks[edge] = change


def _accumulation(before: Statistics | None, arrived: Statistics | None) -> str:
    """Return ``0 + 36``: what was there, and what came."""
    if arrived is None:  # a tensor without data
        return ""
    return plus(format_statistics(before) if before else "0", format_statistics(arrived))


def describe(gradient: Any) -> Statistics | None:
    """Describe a gradient: an array, a NumPy scalar or a tensor of either library."""
    return None if gradient is None else numbers_of(gradient).statistics(gradient)


def changes_of(calls: Iterable[HookCall]) -> dict[HookPlace, HookChange]:
    """List what the hooks of one node changed, those at one place taken together."""
    changes: dict[HookPlace, HookChange] = {}
    for call in calls:
        if not call.changed:
            continue
        name = f"{call.kind} hook {call.name}"
        for nr, (before, after) in enumerate(zip(call.before, call.after, strict=False)):
            if same_numbers(before, after):
                continue
            place = HookPlace(_PLACES[call.kind], call.output_nr if call.kind == "tensor" else nr)
            known = changes.get(place)
            names, first = ((), describe(before)) if known is None else known[:2]
            changes[place] = HookChange((*names, name), first, describe(after))
    return changes


_PLACES: Mapping[HookKind, Literal["input", "output", "grad"]] = {
    "tensor": "input", "pre": "input", "post": "output", "accumulated": "grad",
}  # fmt: skip
