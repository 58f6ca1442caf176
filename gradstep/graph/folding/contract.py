"""The folded graph: one node for each box, edges merged, nothing that was wrong left unsaid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gradstep.graph.builder import GraphBuilder
from gradstep.graph.columns import Ints
from gradstep.graph.folding.bundles import add_bundles
from gradstep.graph.folding.chains import Heads
from gradstep.graph.folding.choose import Item
from gradstep.graph.folding.columns import FoldingColumns
from gradstep.graph.folding.frames import frames_of
from gradstep.graph.folding.places import Places
from gradstep.graph.folding.totals import totals
from gradstep.graph.folding.tree import Fold
from gradstep.graph.folding.units import Units
from gradstep.graph.model import (
    PARAMETER_KINDS,
    Cost,
    Graph,
    Group,
    GroupKind,
    Half,
    Mark,
    OpenGroup,
)
from gradstep.graph.statistics import Statistics
from gradstep.text import plural


class Folded(NamedTuple):
    """A folded graph, and what its nodes stand for that can be opened."""

    graph: Graph
    items: Mapping[int, Item]


def contract(
    graph: Graph,
    columns: FoldingColumns,
    units: Units,
    heads: Heads,
    folds: Sequence[Fold],
    items: Sequence[Item],
    halves: Sequence[Half],
    first: int = 0,
    frame: str = "",
) -> Folded:
    """Return a graph with a node for each item and half, and for each leaf that no box swallows;
    ``items`` show the ``folds``, whose heads are those from number ``first`` on, and what belongs
    to others stays as it is; ``frame`` is the name of a frame around the items, "" for none."""
    places = Places(graph, columns, units, heads, items, first)
    build = GraphBuilder(
        graph.title, graph.derived_forward, unfolded=totals(graph), modules=dict(graph.modules),
        part=graph.part, module_details=dict(graph.module_details),
    )  # fmt: skip
    new_ids = _add_nodes(build, graph, columns, places, halves)
    _add_pairs(build, columns, places, new_ids)
    add_bundles(build, graph, columns, new_ids, places.ports)
    for id, cost in graph.costs.items():
        box = int(new_ids[id])
        if box >= 0:
            build.costs[box] = cost + build.costs.get(box, Cost())
    for id, name in graph.results.items():
        if (box := int(new_ids[id])) >= 0:
            build.results[box] = name
    _add_hooks(build, graph, new_ids)
    _add_marks(build, graph, new_ids)
    folded = build.graph()
    frames = frames_of(folded, folds, items, units, heads, new_ids)
    if frame:
        frames += (OpenGroup(frame, frozenset(new_ids[places.item >= 0].tolist()) - {-1}),)
    folded = replace(folded, frames=frames)
    inside = (places.item >= 0) & places.closed[places.item]
    numbers = dict(zip(new_ids[inside].tolist(), places.item[inside].tolist(), strict=True))
    return Folded(folded, {id: items[number] for id, number in numbers.items() if id >= 0})


def _add_hooks(build: GraphBuilder, graph: Graph, new_ids: Ints) -> None:
    """Tell what hooks changed inside a box at the box."""
    changes = [
        (int(new_ids[id]), change)
        for id, changes_by_hooks in graph.hooks.items()
        for change in changes_by_hooks
    ]
    for id, change in graph.edge_hooks.items():
        source, target = new_ids[graph.edge_sources[id]], new_ids[graph.edge_targets[id]]
        if source == target:
            changes.append((int(source), change))
    for box, change in changes:
        if box >= 0:
            build.hooks[box] = (*build.hooks.get(box, ()), change)


def _add_marks(build: GraphBuilder, graph: Graph, new_ids: Ints) -> None:
    """Mark a box as what is inside it; where only some of that is marked, it is changed."""
    for id, other in graph.others.items():
        box = int(new_ids[id])
        if box >= 0 and build.kinds[box] != "group":
            build.others[box] = other
    if not graph.marks:
        return
    inside: dict[int, list[Mark | None]] = {}
    for id, box in enumerate(new_ids.tolist()):
        if graph.kinds[id] == "op":
            inside.setdefault(box, []).append(graph.marks.get(id))
        elif box >= 0 and id in graph.marks and build.kinds[box] != "group":
            build.marks[box] = graph.marks[id]
    for box, marks in inside.items():
        count = sum(mark is not None for mark in marks)
        first = next(filter(None, marks), None)
        if box < 0 or first is None:
            continue
        if len(marks) == count == 1 or {first.what} == {mark and mark.what for mark in marks}:
            build.marks[box] = first
        else:
            build.marks[box] = Mark("changed", f"{plural(count, 'node')} inside")


def _add_nodes(
    build: GraphBuilder,
    graph: Graph,
    columns: FoldingColumns,
    places: Places,
    halves: Sequence[Half],
) -> Ints:
    """Add every node, in the order of the graph; returns the new id of each old one, or -1."""
    outside = places.item < 0
    alone = np.flatnonzero((outside | places.main) & columns.shown).tolist()
    boxes = np.full((len(places.items), 2), -1, np.int64)
    new_ids = np.full(len(graph), -1, np.int64)
    groups: dict[int, list[int]] = {}
    for number in np.flatnonzero(places.closed).tolist():
        for half in halves:
            ops = [id for id in places.members[number][half] if not columns.is_leaf[id]]
            if ops:
                groups[ops[0]] = ops
    for id in sorted([*alone, *groups]):
        number, half = int(places.item[id]), graph.halves[id]
        if number < 0:
            new_ids[id] = build.copy(graph, id)
        elif id in groups:
            boxes[number, int(half == "backward")] = _add_group(
                build, graph, places, number, half, groups[id]
            )
        else:
            chain = _chain(graph, places, number, id)
            worst = _worst(graph, id, [id] if chain is None else chain.members, places)
            boxes[number, int(half == "backward")] = build.copy(
                graph, id, statistics=worst, group=chain or graph.groups.get(id)
            )
    return np.where(outside, new_ids, boxes[places.item, columns.is_backward.astype(np.int64)])


def _add_pairs(build: GraphBuilder, columns: FoldingColumns, places: Places, new_ids: Ints) -> None:
    paired = np.flatnonzero(columns.partners >= 0)
    partners, leads = columns.partners[paired], places.leads
    both = leads[paired] & leads[partners]
    one, other = new_ids[paired[both]], new_ids[partners[both]]
    first_half, length = (one >= 0) & (one < other), len(build.kinds)
    for code in np.unique(one[first_half] * length + other[first_half]).tolist():
        build.pair(*divmod(code, length))


def _chain(graph: Graph, places: Places, number: int, main: int) -> Group | None:
    """List what a box of one op has beside it: the shape ops, in the order in which they run."""
    members: Sequence[int] = places.members[number][graph.halves[main]]
    if len(members) == 1:
        return None
    if graph.halves[main] == "backward":  # listed as the forward half lists them
        members = sorted(members, reverse=graph.halves[main] == "backward")
    names = dict.fromkeys(graph.stem(id) for id in members if id != main)
    saved = places.saved.get(number, 0) if graph.halves[main] == "backward" else 0
    return Group("chain", ", ".join(names), "", 1, len(members), 0, saved, tuple(sorted(members)))


def _worst(graph: Graph, main: int, members: Sequence[int], places: Places) -> Statistics | None:
    """Return the statistics of the main op, unless another one is in trouble."""
    own = graph.statistics.get(main)
    return own if main in places.troubled else _trouble(graph, members, places) or own


def _trouble(graph: Graph, members: Sequence[int], places: Places) -> Statistics | None:
    return max(
        (graph.statistics[id] for id in members if id in places.troubled),
        key=lambda stats: (bool(stats.nans), stats.nans, stats.infs),
        default=None,
    )


class _Name(NamedTuple):
    kind: GroupKind
    title: str
    scope: str
    module: str


def _name(graph: Graph, item: Item) -> _Name:
    fold = item.fold
    if fold.kind in ("repeat", "loop"):
        first, last = fold.children[item.first], fold.children[item.last]
        title = first.label if item.instances == 1 else f"{first.label} … {_ending(last.label)}"
        kind: GroupKind = "repeat" if fold.kind == "repeat" else "loop"
        return _Name(kind, title, fold.scope, _module(graph, first.label, first.scope))
    if fold.kind in ("band", "data"):
        return _Name("band" if fold.kind == "band" else "data", fold.label, fold.scope, "")
    kind = "iteration" if fold.kind == "iteration" else "scope"
    return _Name(kind, fold.label, fold.scope, _module(graph, fold.label, fold.scope))


def _ending(label: str) -> str:
    """Find what tells the last instance from the first: ``47`` of layers.47, ``498`` of t = 498,
    ``9`` of sin:9."""
    return label.rpartition(" ")[2].rpartition(":")[2].rpartition(".")[2]


def _module(graph: Graph, label: str, scope: str) -> str:
    return graph.modules.get(label, "") if label == scope else ""


def _gradients(graph: Graph, places: Places, item: Item) -> tuple[float, ...]:
    """Return the rms of the gradient of the last op of each of several instances; nothing where
    one of them is unknown."""
    sizes = []
    for last in item.parts if item.instances > 1 else ():
        while last.children:
            last = last.children[-1]
        id = int(places.backward[last.unit])
        stats = graph.statistics.get(id) if id >= 0 else None
        if stats is None or stats.trouble:
            return ()
        sizes.append(stats.rms)
    return tuple(sizes)


def _rms(known: Sequence[Statistics]) -> float | None:
    """Return the rms of all elements of several tensors."""
    count = 0 if any(stats.trouble for stats in known) else sum(stats.size for stats in known)
    return math.sqrt(sum(stats.size * stats.rms**2 for stats in known) / count) if count else None


def _add_group(
    build: GraphBuilder,
    graph: Graph,
    places: Places,
    number: int,
    half: Half,
    ops: Sequence[int],
) -> int:
    item = places.items[number]
    members = places.members[number][half]
    parameters = [id for id in members if graph.kinds[id] in PARAMETER_KINDS]
    sizes = [math.prod(graph.shapes[id] or ()) for id in parameters]
    kind, title, scope, module = _name(graph, item)
    group = Group(
        kind, title, module, item.instances, len(ops), sum(sizes),
        places.saved.get(number, 0), tuple(members),
        "" if item.like is None else item.like.label,
        places.zeros[number] if half == "backward" else 0,
        places.packed[number],
        _gradients(graph, places, item) if half == "backward" else (),
        _rms([graph.statistics[id] for id in parameters if id in graph.statistics]),
    )  # fmt: skip
    changed = tuple(
        value
        for id in ops
        if id in places.changed
        for value in graph.saved[id]
        if value.state == "changed"
    )
    orders = [order for order in map(graph.orders.get, ops) if order is not None]
    return build.node(
        "group", half, title, scope=scope, source=graph.sources.get(ops[0]), group=group,
        order=min(orders, default=None), saved=changed,
        statistics=_trouble(graph, members, places),
    )  # fmt: skip
