"""Which leaves sit inside their consumer.

A network has a leaf for every weight, and each weight a second box for its gradient: half
of all boxes, and the reason why such pictures drift sideways.  Leaves with one consumer are
therefore rows inside it, unless the graph is small enough to show them all.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradstep.graph.folding.totals import totals
from gradstep.graph.model import LEAF_KINDS, Graph

FEW_LEAVES = 3
FEW_CONSUMERS = 6

_OPS = ("op", "group")


def host_leaves(graph: Graph, view: str, leaves: bool | None) -> dict[int, tuple[int, ...]]:
    """Find for each leaf that gets no box of its own the nodes whose boxes show it.

    A leaf and its AccumulateGrad are treated alike, so that both halves stay mirror images.
    A shared leaf keeps its box, and its lines, while these are few and other leaves too.
    """
    if leaves is True:
        return {}
    consumers = _consumers(graph, view)
    few = _count_leaves(graph) <= FEW_LEAVES
    uses = count_uses(graph, consumers)
    hosts: dict[int, tuple[int, ...]] = {}
    for leaf, users in consumers.items():
        twin = consumers.get(graph.pairs.get(leaf, -1), users)
        if not users or not twin or any(graph.kinds[user] not in _OPS for user in users + twin):
            continue
        alone = max(len(users), len(twin)) == 1
        if uses[leaf] > FEW_CONSUMERS or not few or (alone and leaves is False):
            hosts[leaf] = tuple(users)
    return hosts


def box_count(graph: Graph, view: str, leaves: bool | None) -> int:
    """Count the boxes that a picture of ``graph`` has."""
    nodes = sum(view in ("both", half) for half in graph.halves)
    return nodes - len(host_leaves(graph, view, leaves))


def count_uses(graph: Graph, leaves: Iterable[int]) -> dict[int, int]:
    """Count the inputs of ops that each of these leaves is, in the graph as it was before
    folding."""
    uses = dict.fromkeys(leaves, 0)
    for id, kind in enumerate(graph.edge_kinds):
        leaf = graph.edge_sources[id] if kind == "value" else graph.edge_targets[id]
        if kind != "saved" and leaf in uses:
            uses[leaf] += graph.edge_counts.get(id, 1)
    return uses


def _consumers(graph: Graph, view: str) -> dict[int, list[int]]:
    """Find the distinct users of every leaf that is visible, in the order of the edges."""
    consumers: dict[int, dict[int, None]] = {
        id: {}
        for id, kind in enumerate(graph.kinds)
        if kind in LEAF_KINDS and view in ("both", graph.halves[id])
    }
    for id, kind in enumerate(graph.edge_kinds):
        source, target = graph.edge_sources[id], graph.edge_targets[id]
        if kind == "value" and source in consumers:
            consumers[source][target] = None
        elif kind == "gradient" and target in consumers:
            consumers[target][source] = None
    return {leaf: list(users) for leaf, users in consumers.items()}


def _count_leaves(graph: Graph) -> int:
    """Count the leaves, those inside the boxes of a folded graph included; there are as many in
    every view, so that each half alone is what it is beside the other."""
    total = totals(graph)
    return max(total.leaves + total.constants, total.leaf_gradients)
