"""The graph of a recorded call, with what flowed in some of its steps."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from gradstep.engines.recorded.nodes import CallOfNodes
from gradstep.graph.folding.parts import subgraph
from gradstep.graph.model import LEAF_KINDS, RETURNED, Graph


def drawn(call: CallOfNodes, view: str, steps: Collection[int]) -> Graph:
    """Return one half of the graph of a call, or both, with the gradients of ``steps``."""
    graph = call.drawn
    if len(steps) < len(call.order):
        graph = _after(graph, set(steps), len(call.order))
    if view == "both":
        return graph
    ids = [id for id, half in enumerate(graph.halves) if half == view]
    kind = "gradient" if view == "backward" else "value"
    edges = [id for id, each in enumerate(graph.edge_kinds) if each == kind]
    derived = graph.derived_forward and view == "forward"
    part = subgraph(graph, ids, edges, view)
    return replace(part, part=None, pairs={}, derived_forward=derived)


def _after(graph: Graph, steps: set[int], length: int) -> Graph:
    """Return a graph with no more of the gradients than those of ``steps``."""

    def is_known(id: int) -> bool:
        return id >= length or id in steps

    details = list(graph.details)
    for id in range(length):
        of_step = graph.kinds[id] in LEAF_KINDS or details[id] == RETURNED
        if of_step and not is_known(id):
            details[id] = ""
    sources = graph.edge_sources
    return replace(
        graph,
        details=details,
        statistics={id: each for id, each in graph.statistics.items() if is_known(id)},
        undefined=frozenset(filter(is_known, graph.undefined)),
        edge_statistics={
            id: each for id, each in graph.edge_statistics.items() if is_known(sources[id])
        },
        edge_undefined=frozenset(id for id in graph.edge_undefined if is_known(sources[id])),
        hooks={id: each for id, each in graph.hooks.items() if is_known(id)},
        edge_hooks={id: each for id, each in graph.edge_hooks.items() if is_known(sources[id])},
    )
