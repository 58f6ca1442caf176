"""The plan of a backward pass: which nodes run, and in which order.

It is known before the first node runs.  It lists the reachable nodes by descending sequence
number, and each leaf's AccumulateGrad right after its last consumer; that is the order in
which PyTorch's engine runs them, without its priority queue.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.node import LEAF, ONE_EDGE, PORT, TWO_EDGES, Node, Port


class Plan(NamedTuple):
    """Nodes in the order they will run, and the ports through which several outputs arrive."""

    order: Sequence[Node]
    ports: dict[Node, list[Port]]
    places: list[Node | Port]


def make_plan(roots: Sequence[Node | Port]) -> Plan:
    """Find what is reachable from ``roots``, and in which order it runs."""
    seen: dict[Node | Port, None] = dict.fromkeys(roots)
    stack = list(seen)
    inner: list[Node] = []
    last_consumer: list[tuple[AccumulateGrad, Node]] = []
    free_leaves: list[Node] = [n for n in stack if type(n) is AccumulateGrad]
    ports: dict[Node, list[Port]] = {}
    while stack:
        node: Any = stack.pop()
        kind = node.kind
        # The two common kinds are spelled out: a loop over a tuple of edges costs 90 ns a node.
        if kind == ONE_EDGE:
            inner.append(node)
            edge = node.i0
            if type(edge) is AccumulateGrad:
                last_consumer.append((edge, node))
                seen[edge] = None
            elif edge not in seen:
                seen[edge] = None
                stack.append(edge)
            continue
        if kind == LEAF:
            continue
        if kind == PORT:
            port, node = node, node.node
            if node in ports:
                ports[node].append(port)
                continue
            ports[node] = [port]
            seen[node] = None
        inner.append(node)
        for edge in (node.i0, node.i1) if kind == TWO_EDGES else node.edges:
            if edge is None:
                continue
            if type(edge) is AccumulateGrad:
                last_consumer.append((edge, node))
                seen[edge] = None
            elif edge not in seen:
                seen[edge] = None
                stack.append(edge)
    inner.sort(key=attrgetter("sequence_nr"), reverse=True)
    order = _place_leaves(inner, last_consumer, free_leaves)
    return Plan(order, ports, list(seen))


def _place_leaves(
    inner: list[Node], consumers: list[tuple[AccumulateGrad, Node]], roots: list[Node]
) -> list[Node]:
    """Put each leaf right behind the last node that sends it a gradient."""
    last: dict[AccumulateGrad, int] = {}
    for leaf, node in consumers:
        number = node.sequence_nr
        present = last.get(leaf)
        if present is None or number < present:
            last.pop(leaf, None)  # so that it takes its place behind the leaves seen before
            last[leaf] = number
    order: list[Node] = [leaf for leaf in roots if leaf not in last]
    done = 0
    # Leaves of one consumer keep the order of its inputs: `consumers` lists them so, dicts
    # and sort keep it.
    for leaf, number in sorted(last.items(), key=lambda item: -item[1]):
        end = bisect_left(inner, -number, key=lambda node: -node.sequence_nr) + 1
        order += inner[done:end]
        done = max(done, end)
        order.append(leaf)
    order += inner[done:]
    return order


def owner(place: Node | Port) -> Node:
    """The node that a gradient arriving at ``place`` is for."""
    return place.node if type(place) is Port else place  # type: ignore[return-value]
