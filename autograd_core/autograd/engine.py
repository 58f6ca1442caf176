"""The one engine: a plan, and two short loops that carry it out.

The plan is known before the first node runs.  It lists the reachable nodes by descending
sequence number, and each leaf's AccumulateGrad right after its last consumer; that is the
order in which PyTorch's engine runs them, without its priority queue.  ``run`` executes a
stretch of the plan and keeps nothing; ``observe`` executes it and tells all.  Both deliver
gradients in the same order and add them in the same grouping, so their results agree bit
for bit.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.deliver import (
    after_node,
    before_node,
    leaf_accumulated,
    reduce_gradient,
)
from autograd_core.autograd.node import (
    GENERAL,
    LEAF,
    ONE_EDGE,
    PORT,
    TWO_EDGES,
    Edge,
    Node,
    Port,
)

Gradient = Any  # an array; a Tensor under create_graph; None where it is undefined


class Delivery(NamedTuple):
    """One gradient on its way: along edge ``output_nr`` of a node into the buffer ``edge``,
    which held ``before`` and holds ``after``.  ``edge`` None is an edge to nowhere."""

    output_nr: int
    edge: Edge
    gradient: Gradient
    before: Gradient
    after: Gradient


class Step(NamedTuple):
    """What one node did.

    ``incoming`` is what its buffers held, one entry per output of the forward op, and
    ``hooked`` the same after its hooks; ``before`` and ``after`` are a leaf's ``.grad``
    around the accumulation (copies, None where there was none).
    """

    index: int  # type: ignore[assignment]  # the field hides a method of tuples, on purpose
    node: Node
    incoming: tuple[Gradient, ...]
    hooked: tuple[Gradient, ...]
    deliveries: tuple[Delivery, ...]
    before: Gradient = None
    after: Gradient = None


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


def _owner(place: Node | Port) -> Node:
    return place.node if type(place) is Port else place  # type: ignore[return-value]


class GraphTask:
    """One backward pass: its plan, and the gradients that wait in input buffers.

    ``pending`` maps every place a gradient can arrive at (a node, or a port of one) to the
    sum of what has arrived there so far, None for nothing.  All state is here, none on the
    nodes, so that passes can nest, run in several threads, be paused and be forked.
    """

    __slots__ = ("graph", "keep", "order", "pending", "ports")

    def __init__(
        self,
        roots: Sequence[Node | Port],
        seeds: Sequence[Gradient],
        *,
        keep: bool = False,
        graph: bool = False,
    ) -> None:
        """Plan a pass from ``roots``, where the gradients ``seeds`` enter.

        ``keep`` is PyTorch's ``retain_graph``; ``graph`` its ``create_graph``, with tensors
        for gradients.
        """
        plan = make_plan(roots)
        self.order = plan.order
        self.ports = plan.ports
        self.pending: dict[Node | Port, Gradient] = dict.fromkeys(plan.places)
        self.keep = keep
        self.graph = graph
        for root, seed in zip(roots, seeds, strict=True):
            present = self.pending[root]
            self.pending[root] = seed if present is None else present + seed

    def restrict(self, places: Sequence[Node | Port]) -> set[Node]:
        """Plan no more than what ``places`` need, themselves included; returns the nodes whose
        gradients lead there."""
        wanted = {_owner(place) for place in places}
        needed: set[Node] = set()
        for node in reversed(self.order):
            if any(_owner(e) in needed or _owner(e) in wanted for e in node.edges if e is not None):
                needed.add(node)
        self.order = [node for node in self.order if node in needed or node in wanted]
        return needed

    def run_for(self, places: Sequence[Node | Port]) -> dict[Node | Port, Gradient]:
        """Execute only what ``places`` need, and return the gradient that arrives at each.

        None of them is accumulated into; None stands for a place that nothing reached.
        """
        wanted = {_owner(place) for place in places}
        needed = self.restrict(places)
        arrived: dict[Node | Port, Gradient] = dict.fromkeys(places)
        done = 0
        for index in [i for i, node in enumerate(self.order) if node in wanted]:
            self.run(done, index)
            node, done = self.order[index], index + 1
            if node in needed:
                (step,) = self.observe(index, done)
                found = step.incoming  # as in PyTorch, hooks change what this node goes on with
            else:
                found = before_node(node, self._take(node), self.graph)
            for place in arrived:
                if _owner(place) is node:
                    arrived[place] = found[place.nr if type(place) is Port else 0]
        return arrived

    def run(self, start: int = 0, stop: int | None = None) -> None:
        """Execute plan nodes ``start`` to ``stop``, keeping nothing."""
        if self.graph:
            for _ in self.observe(start, stop):
                pass
            return
        pending, keep = self.pending, self.keep
        for node in self.order[start:stop]:
            kind = GENERAL if node.hooks is not None else node.kind
            if kind == ONE_EDGE:
                g = pending[node]
                if g is None:
                    continue
                pending[node] = None
                a = node.backward(g, keep)
                if node.to is not None:
                    a = reduce_gradient(a, node.to[0])
                edge = node.i0
                g = pending[edge]  # type: ignore[index]  # a node with one edge has it
                pending[edge] = a if g is None else g + a  # type: ignore[index]
            elif kind == TWO_EDGES:
                g = pending[node]
                if g is None:
                    continue
                pending[node] = None
                a, b = node.backward(g, keep)
                if node.to is not None:
                    a, b = reduce_gradient(a, node.to[0]), reduce_gradient(b, node.to[1])
                edge = node.i0
                if edge is not None:
                    g = pending[edge]
                    pending[edge] = a if g is None else g + a
                edge = node.i1
                if edge is not None:
                    g = pending[edge]
                    pending[edge] = b if g is None else g + b
            elif kind == LEAF:
                # Nothing here may hold on to the gradient, or the leaf could not take it over.
                a = b = None
                g = pending[node]
                pending[node] = None
                if g is not None:
                    node.backward(g, keep)
            else:
                g = a = b = None
                self._run_general(node)

    def _run_general(self, node: Node) -> None:
        """As the loop of ``run``, for a node with many edges, several outputs, or hooks."""
        if node.hooks is not None or node.ported or node.runs_undefined:
            for _ in self._observe_node(-1, node):
                pass
            return
        pending = self.pending
        g = pending[node]
        if g is None:
            return
        pending[node] = None
        outgoing, to = node.backward(g, self.keep), node.to
        for number, edge in enumerate(node.all_edges):
            if edge is not None:
                a = outgoing[number]
                if a is None:
                    continue
                if to is not None:
                    a = reduce_gradient(a, to[number])
                present = pending[edge]
                pending[edge] = a if present is None else present + a

    def observe(self, start: int = 0, stop: int | None = None) -> Iterator[Step]:
        """Execute plan nodes ``start`` to ``stop``, yielding a Step after each."""
        for index, node in enumerate(self.order[start:stop], start):
            yield from self._observe_node(index, node)

    def _observe_node(self, index: int, node: Node) -> Iterator[Step]:
        incoming = self._take(node)
        hooked = before_node(node, incoming, self.graph)
        if node.kind == LEAF:
            yield self._accumulate(index, node, incoming, hooked)
            return
        outgoing = self._outgoing(node, hooked)
        outgoing = after_node(node, outgoing, hooked, self.graph)
        deliveries = tuple(
            self._deliver(nr, edge, gradient)
            for nr, (edge, gradient) in enumerate(zip(node.edges, outgoing, strict=True))
        )
        yield Step(index, node, incoming, hooked, deliveries)

    def _take(self, node: Node) -> tuple[Gradient, ...]:
        """Empty the input buffers of ``node``."""
        pending = self.pending
        if not node.ported:
            g = pending[node]
            pending[node] = None
            return (g,)
        incoming: list[Gradient] = [None] * node.output_count
        for port in self.ports.get(node, ()):
            incoming[port.nr] = pending[port]
            pending[port] = None
        return tuple(incoming)

    def _outgoing(self, node: Node, incoming: tuple[Gradient, ...]) -> Sequence[Gradient]:
        """Execute the node itself: rule and reduction, no hooks, no delivery."""
        edges = node.edges
        if not node.runs_undefined and all(g is None for g in incoming):
            return (None,) * len(edges)
        g: Any = list(incoming) if node.ported else incoming[0]
        result = node.backward_graph(g) if self.graph else node.backward(g, self.keep)
        if self.graph and not self.keep:
            node.release()
        outgoing = (result,) if node.kind == ONE_EDGE else result
        if node.to is not None:
            outgoing = [
                reduce_gradient(gradient, to)
                for gradient, to in zip(outgoing, node.to, strict=True)
            ]
        return [
            None if e is None else gradient for e, gradient in zip(edges, outgoing, strict=True)
        ]

    def _deliver(self, output_nr: int, edge: Edge, gradient: Gradient) -> Delivery:
        if edge is None or gradient is None:
            before = after = None if edge is None else self.pending[edge]
        else:
            before = self.pending[edge]
            after = self.pending[edge] = gradient if before is None else before + gradient
        return Delivery(output_nr, edge, gradient, before, after)

    def _accumulate(
        self, index: int, node: Node, incoming: tuple[Gradient, ...], hooked: tuple[Gradient, ...]
    ) -> Step:
        assert type(node) is AccumulateGrad
        leaf, g = node.variable, hooked[0]
        before = None if leaf.grad is None else leaf.grad.array.copy()
        if g is not None:
            if self.graph:
                node.backward_graph(g)
            else:
                node.backward(g, self.keep)
            leaf_accumulated(node)
        after = None if leaf.grad is None else leaf.grad.array.copy()
        return Step(index, node, incoming, hooked, (), before, after)
