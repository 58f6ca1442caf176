"""Measurements of a profile, by nodes of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from autograd_core.autograd.node import Node
from autograd_core.autograd.profiler import profile
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Cost


def node_costs(found: profile, nodes: Iterable[Node]) -> dict[Node, Cost]:
    """Return the cost of those of ``nodes`` that ``found`` has measured.

    >>> import autograd_core as torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> with profile() as found:
    ...     y = x.exp()
    >>> node_costs(found, [y.grad_fn])[y.grad_fn].forward_bytes
    12
    """
    costs = {}
    for node in nodes:
        if node.notes is None:
            continue
        made, ran = found.forward.get(node.notes), found.backward.get(node.notes)
        if made is not None or ran is not None:
            costs[node] = Cost(
                None if made is None else made.seconds,
                None if made is None else made.bytes,
                None if ran is None else ran.seconds,
                None if ran is None else ran.bytes,
            )
    return costs


def add_costs(
    build: GraphBuilder,
    nodes: Iterable[Node],
    ids_of: Iterable[Callable[[Node], int | None]],
    found: profile,
) -> None:
    """Enter the cost of each of ``nodes`` at those that stand for it, in either half."""
    costs = node_costs(found, nodes)
    for id_of in ids_of:
        for node, cost in costs.items():
            id = id_of(node)
            if id is not None:
                build.costs[id] = cost
