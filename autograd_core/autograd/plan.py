"""The plan of a backward pass: which nodes run, and in which order.

It is known before the first node runs.  It lists the reachable nodes by descending sequence
number, and each leaf's AccumulateGrad right after its last consumer; that is the order in
which PyTorch's engine runs them, without its priority queue.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.node import LEAF, ONE_EDGE, PORT, TWO_EDGES, Node, Port

_BY_NUMBER = attrgetter("sequence_nr")


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
    leaves: dict[AccumulateGrad, None] = {}
    consumers: list[Node] = []  # of leaves
    ports: dict[Node, list[Port]] = {}
    while stack:
        node: Any = stack.pop()
        kind = node.kind
        # The two common kinds are spelled out: a loop over a tuple of edges costs 90 ns a node.
        if kind == ONE_EDGE:
            inner.append(node)
            edge = node.i0
            if type(edge) is AccumulateGrad:
                leaves[edge] = None
                consumers.append(node)
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
                leaves[edge] = None
                consumers.append(node)
            elif edge not in seen:
                seen[edge] = None
                stack.append(edge)
    inner.sort(key=_BY_NUMBER, reverse=True)
    free = (n for n in dict.fromkeys(roots) if type(n) is AccumulateGrad)
    order: list[Node] = [leaf for leaf in free if leaf not in leaves]
    _place_leaves(order, inner, leaves, consumers)
    return Plan(order, ports, [*seen, *leaves])


def _place_leaves(
    order: list[Node], inner: list[Node], leaves: Iterable[Node], consumers: list[Node]
) -> None:
    """Add the nodes ``inner`` to ``order``, and each of ``leaves`` right behind the last of its
    ``consumers``."""
    consumers.sort(key=_BY_NUMBER)
    waiting: set[Node | Port | None] = set(leaves)
    behind: list[tuple[Node, list[Node]]] = []
    for node in consumers:
        if not waiting:
            break
        new: list[Any] = []
        for edge in node.edges:
            if edge in waiting:
                waiting.remove(edge)
                new.append(edge)
        if new:
            behind.append((node, new))
    done = 0
    for node, new in reversed(behind):
        end = bisect_left(inner, -node.sequence_nr, done, key=_descending) + 1
        order += inner[done:end]
        order += new
        done = end
    order += inner[done:]


def _descending(node: Node) -> int:
    return -node.sequence_nr


def owner(place: Node | Port) -> Node:
    """The node that a gradient arriving at ``place`` is for."""
    return place.node if type(place) is Port else place  # type: ignore[return-value]
