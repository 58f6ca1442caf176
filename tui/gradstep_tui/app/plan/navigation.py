"""Ways from node to node of a plan: along the edges, and by a word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gradstep.graph.model import Graph
from gradstep_tui.app.plan.lanes import PlanEdges


def senders(graph: Graph, edges: PlanEdges, node: int) -> list[int]:
    """Return the nodes that send to ``node``, in the order in which they do."""
    return list(dict.fromkeys(graph.edge_sources[edge] for edge in edges.producers_of(node)))


def receivers(edges: PlanEdges, node: int) -> list[int]:
    """Return the nodes that ``node`` sends to."""
    return list(dict.fromkeys(edges.targets_of(node)))


def find(graph: Graph, length: int, after: int, text: str, step: int = 1) -> int | None:
    """Return the next plan node, round the end, that has ``text`` in its name; the previous one
    with a ``step`` of -1."""
    has = named(graph, text)
    around = ((after + step * offset) % length for offset in range(1, length + 1))
    return next(filter(has, around), None)


def named(graph: Graph, text: str) -> Callable[[int], bool]:
    """Return what tells whether op, module, leaf, file or address of a node has ``text``, which is
    in lower case, in its name."""
    known: dict[str, bool] = {}

    def has(name: str) -> bool:
        if name not in known:
            known[name] = text in name.lower()
        return known[name]

    def is_named(index: int) -> bool:
        source = graph.sources.get(index)
        return (
            has(graph.names[index])
            or has(graph.scopes[index])
            or has(graph.variables.get(index, ""))
            or (source is not None and has(Path(source.file).name))
            or text in graph.address(index).lower()
        )

    return is_named
