"""Measurements of a profile, by nodes of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Cost
from gradstep.records import Node


def add_costs(
    build: GraphBuilder,
    costs: Mapping[Node, Cost],
    ids_of: Iterable[Callable[[Node], int | None]],
) -> None:
    """Enter the cost of each node at those that stand for it, in either half."""
    for id_of in ids_of:
        for node, cost in costs.items():
            id = id_of(node)
            if id is not None:
                build.costs[id] = cost
