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
        made, ran = measured.forward.get(node.notes), measured.backward.get(node.notes)
        if made is not None or ran is not None:
            costs[node] = Cost(
                None if made is None else made.seconds,
                None if made is None else made.bytes,
                None if ran is None else ran.seconds,
                None if ran is None else ran.bytes,
            )
    return costs
