"""The folded graph: one node for each box, edges merged, nothing that was wrong left unsaid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from autograd_core.dag.folding.bundles import add_bundles
from autograd_core.dag.folding.chains import Heads
from autograd_core.dag.folding.choose import Item
from autograd_core.dag.folding.tree import heads_of
from autograd_core.dag.folding.units import LEAVES, Units
from autograd_core.dag.model import Graph, GraphBuilder, Group, GroupKind, Half
from autograd_core.dag.records import Cost
from autograd_core.dag.statistics import Statistics
from autograd_core.dag.totals import saved_bytes_by, totals


def contract(
    graph: Graph, units: Units, heads: Heads, items: Sequence[Item], halves: Sequence[Half]
) -> Graph:
    """A graph with a node for each item and half, and for each leaf that no box swallows."""
    places = _Places(graph, units, heads, items, halves)
    build = GraphBuilder(
        graph.title, graph.derived_forward, unfolded=totals(graph), modules=dict(graph.modules)
    )
    new_ids = _add_nodes(build, graph, places)
    for id, partner in graph.pairs.items():
        one, other = new_ids[id], new_ids[partner]
        if 0 <= one < other and places.leads(id) and places.leads(partner):
            build.pair(one, other)
    add_bundles(build, graph, new_ids, places.ports)
    for id, cost in graph.costs.items():
        box = new_ids[id]
        if box >= 0:
            build.costs[box] = cost + build.costs.get(box, Cost())
    return build.graph()


class _Places:
    """Which item each node belongs to, and what the node is there.

    ``item`` is -1 for nodes outside all boxes; ``main`` is the node whose facts a box of one op
    shows; ``ports`` are the numbers that the ends of edges get where a shape op stood between.
    """

    def __init__(
        self, graph: Graph, units: Units, heads: Heads, items: Sequence[Item],
        halves: Sequence[Half],
    ) -> None:  # fmt: skip
        self.graph, self.items = graph, items
        self.halves = halves
        self.item = [-1] * len(graph)
        self.mains: set[int] = set()
        self.members: list[dict[Half, list[int]]] = [{} for _ in items]
        self.ports: dict[int, int] = {}
        for number, item in enumerate(items):
            for part in item.parts:
                for head in heads_of(part):
                    for unit in heads.members(head.unit):
                        for id in units.nodes(unit):
                            self.item[id] = number
                    if item.fold.kind == "head":
                        self.mains.update(units.nodes(head.unit))
        self._swallow_leaves()
        for id, number in enumerate(self.item):
            if number >= 0:
                self.members[number].setdefault(graph.halves[id], []).append(id)
        self.saved = saved_bytes_by(graph, self.item)
        if heads.joint:
            self._find_ports(units)

    def closed(self, number: int) -> bool:
        return self.items[number].fold.kind != "head"

    def leads(self, id: int) -> bool:
        """Whether a node stands for its box: any of a closed one, else the main op."""
        number = self.item[id]
        return number < 0 or self.closed(number) or id in self.mains

    def _find_ports(self, units: Units) -> None:
        """By which input or output of the main op a shape op beside it is reached."""
        graph, of = self.graph, units.of
        hops: dict[int, tuple[int, int]] = {}  # one step closer to the main op
        edges = zip(graph.edge_kinds, graph.edge_sources, graph.edge_targets, strict=True)
        for id, (kind, source, target) in enumerate(edges):
            number = self.item[source]
            if kind == "saved" or number < 0 or number != self.item[target] or self.closed(number):
                continue
            nrs = graph.edge_input_nrs[id], graph.edge_output_nrs[id]
            if kind == "gradient":  # against the flow of the values
                source, target, nrs = target, source, nrs[::-1]
            if of[source] < self.items[number].fold.unit:
                hops[source] = (target, nrs[0])
            else:
                hops[target] = (source, nrs[1])
        for id in hops:
            place, nr = id, 0
            while place in hops and place not in self.mains:
                place, nr = hops[place]
            self.ports[id] = nr

    def _swallow_leaves(self) -> None:
        """Put leaves that only one closed box reads into it, and their gradients alike; but not
        what all instances of a repeat share."""
        graph = self.graph
        reader = [-1] * len(graph)
        several: set[int] = set()
        uses: dict[int, int] = {}
        edges = zip(graph.edge_kinds, graph.edge_sources, graph.edge_targets, strict=True)
        for kind, source, target in edges:
            leaf, user = (source, target) if kind == "value" else (target, source)
            if kind == "saved" or graph.kinds[leaf] not in LEAVES:
                continue
            if graph.halves[leaf] not in self.halves:
                continue
            number = self.item[user]
            if number < 0 or reader[leaf] not in (-1, number):
                several.add(leaf)
            reader[leaf] = number
            uses[leaf] = uses.get(leaf, 0) + 1
        for leaf, number in enumerate(reader):
            partner = graph.pairs.get(leaf, leaf)
            alone = number >= 0 and leaf not in several and partner not in several
            same = reader[partner] in (number, -1)
            if alone and same and self.closed(number):
                instances = self.items[number].instances
                shared = instances > 1 and max(uses[leaf], uses.get(partner, 0)) >= instances
                if not shared and self._is_detail(leaf, number):
                    self.item[leaf] = number

    def _is_detail(self, leaf: int, number: int) -> bool:
        """Whether a leaf is of no interest outside the box: a parameter, or without a name."""
        graph = self.graph
        if graph.kinds[leaf] == "parameter" or leaf not in graph.variables:
            return True
        return self.items[number].instances > 1


def _add_nodes(build: GraphBuilder, graph: Graph, places: _Places) -> list[int]:
    """Add every node, in the order of the graph; returns the new id of each old one, or -1."""
    new_ids = [-1] * len(graph)
    boxes: dict[tuple[int, Half], int] = {}
    for id, half in enumerate(graph.halves):
        number = places.item[id]
        if half not in places.halves:
            continue
        if number < 0:
            new_ids[id] = _copy(build, graph, id, None)
        elif places.closed(number):
            if (number, half) not in boxes and graph.kinds[id] not in LEAVES:
                boxes[number, half] = _add_group(build, graph, places, number, half)
        elif id in places.mains:
            boxes[number, half] = _copy(build, graph, id, _chain(graph, places, number, id))
    for id, half in enumerate(graph.halves):
        if places.item[id] >= 0:
            new_ids[id] = boxes.get((places.item[id], half), -1)
    return new_ids


def _copy(build: GraphBuilder, graph: Graph, id: int, group: Group | None) -> int:
    return build.node(
        graph.kinds[id],
        graph.halves[id],
        graph.names[id],
        variable=graph.variables.get(id, ""),
        stem=graph.stems.get(id, ""),
        scope=graph.scopes[id],
        count=graph.counts[id],
        shape=graph.shapes[id],
        dtype=graph.dtypes[id],
        detail=graph.details[id],
        formula=graph.formulas[id],
        source=graph.sources.get(id),
        order=graph.orders.get(id),
        saved=graph.saved.get(id, ()),
        statistics=graph.statistics.get(id) if group is None else _worst(graph, id, group.members),
        undefined=id in graph.undefined,
        group=group or graph.groups.get(id),
    )


def _chain(graph: Graph, places: _Places, number: int, main: int) -> Group | None:
    """What a box of one op has beside it: the shape ops, in the order in which they run."""
    members = places.members[number][graph.halves[main]]
    if len(members) == 1:
        return None
    if graph.halves[main] == "backward":  # listed as the forward half lists them
        members = sorted(members, reverse=graph.halves[main] == "backward")
    names = dict.fromkeys(graph.stem(id) for id in members if id != main)
    saved = places.saved.get(number, 0) if graph.halves[main] == "backward" else 0
    return Group("chain", ", ".join(names), "", 1, len(members), 0, saved, tuple(sorted(members)))


def _worst(graph: Graph, main: int, members: Sequence[int]) -> Statistics | None:
    """The statistics of the main op, unless another one is in trouble."""
    own = graph.statistics.get(main)
    return own if own is not None and own.trouble else _trouble(graph, members) or own


def _trouble(graph: Graph, members: Sequence[int]) -> Statistics | None:
    if not graph.statistics:
        return None
    found = (graph.statistics.get(id) for id in members)
    return max(
        (stats for stats in found if stats is not None and stats.trouble),
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
    kind = "iteration" if fold.label.startswith("t = ") else "scope"
    return _Name(kind, fold.label, fold.scope, _module(graph, fold.label, fold.scope))


def _ending(label: str) -> str:
    """What tells the last instance from the first: ``47`` of layers.47, ``498`` of t = 498,
    ``9`` of sin:9."""
    return label.rpartition(" ")[2].rpartition(":")[2].rpartition(".")[2]


def _module(graph: Graph, label: str, scope: str) -> str:
    return graph.modules.get(label, "") if label == scope else ""


def _add_group(build: GraphBuilder, graph: Graph, places: _Places, number: int, half: Half) -> int:
    item = places.items[number]
    members = places.members[number][half]
    ops = [id for id in members if graph.kinds[id] not in LEAVES]
    sizes = [math.prod(graph.shapes[id] or ()) for id in members if graph.kinds[id] == "parameter"]
    kind, title, scope, module = _name(graph, item)
    group = Group(
        kind, title, module, item.instances, len(ops), sum(sizes),
        places.saved.get(number, 0), tuple(members),
        "" if item.like is None else item.like.label,
    )  # fmt: skip
    changed = tuple(
        value for id in ops for value in graph.saved.get(id, ()) if value.state == "changed"
    )
    orders = [graph.orders[id] for id in ops if id in graph.orders]
    return build.node(
        "group", half, title, scope=scope, source=graph.sources.get(ops[0]), group=group,
        order=min(orders, default=None), saved=changed, statistics=_trouble(graph, members),
    )  # fmt: skip
