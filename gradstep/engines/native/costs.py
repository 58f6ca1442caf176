"""What a profile of the core has measured, by node."""

from __future__ import annotations

from collections.abc import Iterable

from autograd_core.autograd.node import Node
from autograd_core.autograd.profiler import profile
from gradstep.graph.model import Cost


def node_costs(measured: profile, nodes: Iterable[Node]) -> dict[Node, Cost]:
    """Return the cost of those of ``nodes`` that a profile has measured.

    >>> import autograd_core as torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> with profile() as measured:
    ...     y = x.exp()
    >>> node_costs(measured, [y.grad_fn])[y.grad_fn].forward_bytes
    12
    """
    costs = {}
    for node in nodes:
        if node.notes is None:
            continue
        forward, backward = measured.forward.get(node.notes), measured.backward.get(node.notes)
        if forward is not None or backward is not None:
            costs[node] = Cost(
                None if forward is None else forward.seconds,
                None if forward is None else forward.bytes,
                None if backward is None else backward.seconds,
                None if backward is None else backward.bytes,
            )
    return costs
