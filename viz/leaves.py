"""Which leaves sit inside their consumer.

A network has a leaf for every weight, and each weight a second box for its gradient: half
of all boxes, and the reason why such pictures drift sideways.  Leaves with one consumer are
therefore rows inside it, unless the graph is small enough to show them all.
"""

from __future__ import annotations

from autograd_core.dag.model import Graph

FEW_LEAVES = 4
FEW_CONSUMERS = 6

_LEAF_KINDS = ("leaf", "parameter", "constant")


def host_leaves(graph: Graph, view: str, leaves: bool | None) -> dict[int, tuple[int, ...]]:
    """For each leaf that gets no box of its own, the nodes whose boxes show it.

    A leaf and its AccumulateGrad are treated alike, so that both halves stay mirror images.
    A shared leaf keeps its box, and its lines, while these are few.
    """
    if leaves is True:
        return {}
    consumers = _consumers(graph, view)
    few = leaves is None and _count_leaves(graph, view) <= FEW_LEAVES
    hosts: dict[int, tuple[int, ...]] = {}
    for leaf, users in consumers.items():
        twin = consumers.get(graph.pairs.get(leaf, -1), users)
        if not users or not twin or any(graph.kinds[user] != "op" for user in users + twin):
            continue
        most = max(len(users), len(twin))
        if most > FEW_CONSUMERS or (most == 1 and not few):
            hosts[leaf] = tuple(users)
    return hosts


def _consumers(graph: Graph, view: str) -> dict[int, list[int]]:
    """The distinct users of every leaf that is visible, in the order of the edges."""
    found: dict[int, dict[int, None]] = {
        id: {}
        for id, kind in enumerate(graph.kinds)
        if kind in _LEAF_KINDS and view in ("both", graph.halves[id])
    }
    for id, kind in enumerate(graph.edge_kinds):
        source, target = graph.edge_sources[id], graph.edge_targets[id]
        if kind == "value" and source in found:
            found[source][target] = None
        elif kind == "gradient" and target in found:
            found[target][source] = None
    return {leaf: list(users) for leaf, users in found.items()}


def _count_leaves(graph: Graph, view: str) -> int:
    half = "backward" if view == "backward" else "forward"
    return sum(
        kind in _LEAF_KINDS and where == half
        for kind, where in zip(graph.kinds, graph.halves, strict=True)
    )
