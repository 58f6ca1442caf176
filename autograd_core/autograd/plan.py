"""The plan of a backward pass: which nodes run, and in which order.

It is known before the first node runs.  It lists the reachable nodes by descending sequence
number, and each leaf's AccumulateGrad right after its last consumer; that is the order in
which PyTorch's engine runs them, without its priority queue.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.node import LEAF, ONE_EDGE, PORT, TWO_EDGES, Node, Port

_BY_NUMBER = attrgetter("sequence_nr")
_ABOVE: Final = 2**64  # all numbers
_FEW: Final = 16  # inner nodes for each that leaves follow


class Plan(NamedTuple):
    """Nodes in the order they will run, and the ports through which several outputs arrive."""

    order: Sequence[Node]
    ports: dict[Node, list[Port]]


def make_plan(roots: Sequence[Node | Port]) -> Plan:
    """Find what is reachable from ``roots``, and in which order it runs."""
    first = dict.fromkeys(roots)
    stack: list[Any] = list(first)
    before: list[Node] = []  # those that run before all others
    inner: list[Node] = []
    last: dict[Any, int] = {}  # of each leaf, the number of the consumer that runs last
    known = last.get
    if len(stack) == 1:
        stack = [_follow(stack[0], before, last)]
    # A set: of a million nodes a dictionary, which looks in two places, takes 150 ns a node more.
    seen: set[Node | Port] = set(stack)
    ports: dict[Node, list[Port]] = {}
    while stack:
        node = stack.pop()
        kind = node.kind
        # The common kinds are spelled out: a loop over a tuple of edges costs 90 ns a node.
        if kind == ONE_EDGE:
            inner.append(node)
            edge = node.i0
            if type(edge) is AccumulateGrad:
                if node.sequence_nr < known(edge, _ABOVE):
                    last[edge] = node.sequence_nr
            elif edge not in seen:
                seen.add(edge)
                stack.append(edge)
        elif kind >= TWO_EDGES:
            inner.append(node)
            edge = node.i0
            if edge is not None:
                if type(edge) is AccumulateGrad:
                    if node.sequence_nr < known(edge, _ABOVE):
                        last[edge] = node.sequence_nr
                elif edge not in seen:
                    seen.add(edge)
                    stack.append(edge)
            edge = node.i1
            if edge is not None:
                if type(edge) is AccumulateGrad:
                    if node.sequence_nr < known(edge, _ABOVE):
                        last[edge] = node.sequence_nr
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
                    if node.sequence_nr < known(edge, _ABOVE):
                        last[edge] = node.sequence_nr
                elif edge is not None and edge not in seen:
                    seen.add(edge)
                    stack.append(edge)
    order: list[Node] = [n for n in first if type(n) is AccumulateGrad and n not in last]
    inner.sort(key=_BY_NUMBER, reverse=True)
    order += _with_leaves(before + inner, last)
    return Plan(order, ports)


def _follow(node: Any, before: list[Node], last: dict[Any, int]) -> Any:
    """Go from ``node`` as far as there is one way on, beside those to leaves; return where that
    ends.  None of these nodes is met again: to remember a million of them would take 0.3 us each.
    """
    while (kind := node.kind) >= ONE_EDGE:
        on = node.i0
        if kind != ONE_EDGE:
            other = node.i1
            if on is None or type(on) is AccumulateGrad:
                on, other = other, on
            if type(other) is AccumulateGrad:
                last[other] = node.sequence_nr
            elif other is not None and other is not on:
                break
            if on is None:
                on = other
        before.append(node)
        if type(on) is AccumulateGrad:
            last[on] = node.sequence_nr
        node = on
    return node


def _with_leaves(inner: list[Node], last: dict[Any, int]) -> list[Node]:
    """Return ``inner``, by descending number, each leaf right behind the ``last`` of its
    consumers."""
    behind: dict[int, list[Any]] = {}
    for leaf, number in last.items():
        behind.setdefault(number, []).append(leaf)
    order: list[Any] = []
    if len(inner) < _FEW * len(behind):
        leaf_of = behind.get
        for node in inner:
            order.append(node)
            leaves = leaf_of(node.sequence_nr)
            if leaves is not None:
                order += leaves if len(leaves) == 1 else _by_edges(node, leaves)
        return order
    done = 0  # a leaf or two behind a million nodes: found by bisection, a tenth of the time
    for number in sorted(behind, reverse=True):
        place = bisect_left(inner, -number, done, key=lambda node: -node.sequence_nr) + 1
        order += inner[done:place]
        order += _by_edges(inner[place - 1], behind[number])
        done = place
    order += inner[done:]
    return order


def _by_edges(node: Node, leaves: list[Any]) -> list[Any]:
    """Return ``leaves`` in the order of the edges of ``node``."""
    return [edge for edge in dict.fromkeys(node.edges) if edge in leaves]


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
