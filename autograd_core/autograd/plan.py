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
from autograd_core.autograd.node import GENERAL, LEAF, ONE_EDGE, PORT, TWO_EDGES, Node, Port

_BY_NUMBER = attrgetter("sequence_nr")


class Plan(NamedTuple):
    """Nodes in the order they will run, and the ports through which several outputs arrive."""

    order: Sequence[Node]
    ports: dict[Node, list[Port]]


def make_plan(roots: Sequence[Node | Port]) -> Plan:
    """Find what is reachable from ``roots``, and in which order it runs."""
    first = dict.fromkeys(roots)
    # A set: of a million nodes a dictionary, which looks in two places, takes 150 ns a node more.
    seen: set[Node | Port] = set(first)
    stack: list[Any] = list(first)
    inner: list[Node] = []
    leaves: dict[Node | Port, None] = {}
    consumers: list[Node] = []  # of leaves
    ports: dict[Node, list[Port]] = {}
    while stack:
        node = stack.pop()
        kind = node.kind
        # The common kinds are spelled out: a loop over a tuple of edges costs 90 ns a node.
        if kind == ONE_EDGE:
            inner.append(node)
            edge = node.i0
            if type(edge) is AccumulateGrad:
                leaves[edge] = None
                consumers.append(node)
            elif edge not in seen:
                seen.add(edge)
                stack.append(edge)
        elif kind == TWO_EDGES:
            inner.append(node)
            edge = node.i0
            if edge is not None:
                if type(edge) is AccumulateGrad:
                    leaves[edge] = None
                    consumers.append(node)
                elif edge not in seen:
                    seen.add(edge)
                    stack.append(edge)
            edge = node.i1
            if edge is not None:
                if type(edge) is AccumulateGrad:
                    leaves[edge] = None
                    consumers.append(node)
                elif edge not in seen:
                    seen.add(edge)
                    stack.append(edge)
        elif kind != LEAF:
            if kind == PORT:
                port, node = node, node.node
                if node in ports:
                    ports[node].append(port)
                    continue
                ports[node] = [port]
                seen.add(node)
            inner.append(node)
            for edge in node.edges:
                if type(edge) is AccumulateGrad:
                    leaves[edge] = None
                    consumers.append(node)
                elif edge is not None and edge not in seen:
                    seen.add(edge)
                    stack.append(edge)
    order: list[Node] = [n for n in first if type(n) is AccumulateGrad and n not in leaves]
    order += _with_leaves(inner, leaves, consumers)
    return Plan(order, ports)


def _with_leaves(
    inner: list[Node], leaves: Iterable[Node | Port], consumers: list[Node]
) -> list[Node]:
    """Return ``inner`` by descending number, each of ``leaves`` right behind the last of its
    ``consumers``."""
    inner.sort(key=_BY_NUMBER)
    consumers.sort(key=_BY_NUMBER)
    waiting: set[Node | Port | None] = set(leaves)
    backwards: list[Any] = []
    done = 0
    for node in consumers:
        if not waiting:
            break
        behind: list[Any] = []
        # read directly: the property takes 0.1 us, and a leaf or two is all a small graph does here
        for edge in node.all_edges if node.kind == GENERAL else (node.i0, node.i1):
            if edge in waiting:
                waiting.remove(edge)
                behind.append(edge)
        if behind:
            place = bisect_left(inner, node.sequence_nr, done, key=_BY_NUMBER)
            backwards += inner[done:place]
            backwards += behind[::-1]
            done = place
    backwards += inner[done:]
    backwards.reverse()
    return backwards


def owner(place: Node | Port) -> Node:
    """Return the node that a gradient arriving at ``place`` is for."""
    return place.node if type(place) is Port else place  # type: ignore[return-value]


def leading_to(order: Sequence[Node], places: set[Node]) -> set[Node]:
    """Find the nodes of a plan that send gradients towards ``places``."""
    needed: set[Node] = set()
    for node in reversed(order):
        if any(owner(e) in needed or owner(e) in places for e in node.edges if e is not None):
            needed.add(node)
    return needed
