"""What a profile measured, by nodes of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from autograd_core.autograd.node import Node
from autograd_core.autograd.profiler import profile
from autograd_core.dag.builder import GraphBuilder
from autograd_core.dag.records import Cost


def node_costs(found: profile, nodes: Iterable[Node]) -> dict[Node, Cost]:
    """The cost of those of ``nodes`` that ``found`` has measured.

    >>> import autograd_core as torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> with profile() as found:
    ...     y = x.exp()
    >>> node_costs(found, [y.grad_fn])[y.grad_fn].forward_bytes
    12
    """
    costs = {}
    for node in nodes:
        made, ran = found.forward.get(node), found.backward.get(node)
        if made is not None or ran is not None:
            costs[node] = Cost(
                None if made is None else made.seconds,
                None if made is None else made.bytes,
                None if ran is None else ran.seconds,
                None if ran is None else ran.bytes,
            )
    return costs


def add_costs(build: GraphBuilder, ids: Mapping[Node, int], found: profile) -> None:
    """Enter the costs of the backward half, and of the forward nodes that belong to it."""
    for node, cost in node_costs(found, ids).items():
        build.costs[ids[node]] = cost
    for one, other in build.pairs.items():
        if other in build.costs:
            build.costs.setdefault(one, build.costs[other])
