"""The gradients of a backward pass, described on the nodes and edges where they went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from gradstep.engines.lookup import engine_of
from gradstep.engines.protocol import Engine
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import RETURNED, HookChange
from gradstep.graph.statistics import Statistics, format_statistics, plus
from gradstep.graph.statistics_columns import StatisticsColumns
from gradstep.records import LEAF, HookCall, HookKind, Step, same_numbers


class HookPlace(NamedTuple):
    """The place where hooks of a node act: on what arrives at input ``nr``, on what leaves by
    output ``nr``, or on the ``.grad`` of a leaf."""

    at: Literal["input", "output", "grad"]
    nr: int = 0


HookChanges = Mapping[int, Mapping[HookPlace, HookChange]]
"""The changes of a pass that hooks made, by the index of their node."""


def add_gradients(build: GraphBuilder, engine: Engine, steps: Sequence[Step]) -> None:
    """Describe the gradients of ``steps``, on their nodes and edges."""
    if not steps:
        return
    step_of: list[Step | None] = [None] * len(build.kinds)
    received: list[Any] = [_NOT_RUN] * len(build.kinds)  # what a node shows, by its number
    special: list[Step] = []
    for step in steps:
        number = step.index
        step_of[number] = step
        first = received[number] = step.hooked[0]
        if first is None or step.captured or step.node.kind == LEAF:
            special.append(step)
            if step.after is not None:
                received[number] = step.after
    sent = [
        _NOT_RUN if (one := step_of[source]) is None else one.deliveries[nr].gradient
        for source, nr in zip(build.edge_sources, build.edge_output_nrs, strict=True)
    ]
    around = [gradient for step in special for gradient in (step.before, step.hooked[0])]
    shown = [*received, *sent, *around]
    numbers = np.fromiter(map(id, shown), np.int64, len(shown))
    # what leaves a node mostly arrives as it is, and is described once
    _, firsts, rows = np.unique(numbers, return_index=True, return_inverse=True)
    different = [shown[at] for at in firsts.tolist()]
    tensors = [None if g is _NOT_RUN or is_described(g) else g for g in different]
    table = engine.all_statistics(tensors)
    for at, gradient in enumerate(different):
        if isinstance(gradient, Statistics):
            table[at] = gradient
    rows[numbers == id(_NOT_RUN)] = -1
    node_rows, edge_rows, told_rows = np.split(rows, [len(received), len(received) + len(sent)])
    build.statistics = StatisticsColumns(table, node_rows)
    build.edge_statistics = StatisticsColumns(table, edge_rows)
    is_unknown = table.columns[0, edge_rows] < 0
    build.edge_undefined.update(np.flatnonzero(is_unknown & (edge_rows >= 0)).tolist())
    for step, (before, arrived) in zip(special, told_rows.reshape(-1, 2).tolist(), strict=True):
        _tell_apart(build, step, table[before], table[arrived])


UNKNOWN: Final = object()
"""In the place of a gradient that was described and dropped: it had no data."""


def is_described(gradient: Any) -> bool:
    """Return whether a step has the description of a gradient in its place."""
    return gradient is UNKNOWN or isinstance(gradient, Statistics)


_NOT_RUN: Final = object()
"""In the place of the gradients of a node that has not run."""


def _tell_apart(
    build: GraphBuilder, step: Step, before: Statistics | None, arrived: Statistics | None
) -> None:
    """Tell of a node to which nothing came, or that is a leaf's or the last one of its way, what
    became of its gradient; ``before`` is what the leaf had."""
    number, first = step.index, step.hooked[0]
    leaf = step.node.kind == LEAF
    if first is None and all(g is None for g in step.hooked):
        build.undefined.add(number)
    if leaf and step.after is None and first is not None:  # by ``grad``
        build.details[number] = RETURNED
    elif leaf:
        build.details[number] = _accumulation(before, arrived)
    elif step.captured and not step.deliveries:  # the pass ends here: its rule did not run
        build.details[number] = RETURNED
        if isinstance(build.formulas, list):
            build.formulas[number] = ""


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
    return None if gradient is None else engine_of((gradient,)).statistics(gradient)


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
