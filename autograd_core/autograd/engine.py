"""The one engine: two short loops that carry out a plan.

``run`` executes a stretch of the plan and keeps nothing; ``observe`` executes it and tells all.
Both deliver gradients in the same order and add them in the same grouping, so their results agree
bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any, Final, NamedTuple, Self

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.buffers import Buffers
from autograd_core.autograd.deliver import Gradient, reduce_gradient, validated
from autograd_core.autograd.firing import (
    after_node,
    before_node,
    leaf_accumulated,
    tensor_hooks,
)
from autograd_core.autograd.node import GENERAL, LEAF, ONE_EDGE, TWO_EDGES, Edge, Node, Port
from autograd_core.autograd.plan import leading_to, make_plan, owner
from autograd_core.autograd.step import Delivery, Step

_SPELLED_OUT: Final = (ONE_EDGE, TWO_EDGES)


class GraphTask:
    """One backward pass: its plan, and the gradients that wait in input buffers.

    ``pending`` maps every place a gradient can arrive at (a node, or a port of one) to the
    sum of what has arrived there so far, None for nothing.  All state is here, none on the
    nodes, so that passes can nest, run in several threads, be paused and be forked.
    """

    __slots__ = (
        "__weakref__", "_captures", "_ends", "captured", "graph", "keep", "order", "pending",
        "plan", "ports", "restricted",
    )  # fmt: skip

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
        self.plan = plan = make_plan(roots)  # of the whole pass; `order` may be a part of it
        self.order = plan.order
        self.ports = plan.ports
        self.pending = Buffers()
        self.keep = keep
        self.graph = graph
        self.captured: dict[Node | Port, Gradient] = {}
        self._captures: dict[Node, list[Node | Port]] = {}  # the places of each node
        self.restricted = False  # to what some places need
        self._ends: set[Node] = set()  # of these nodes, those that run for nothing else
        for root, seed in zip(roots, seeds, strict=True):
            present = self.pending[root]
            self.pending[root] = seed if present is None else present + seed

    def fork(self, pending: dict[Node | Port, Gradient]) -> Self:
        """A pass over the same plan that goes its own way from what ``pending`` holds."""
        other = type(self).__new__(type(self))
        for name in GraphTask.__slots__:
            if name != "__weakref__":
                setattr(other, name, getattr(self, name))
        other.pending = Buffers(pending)
        other.captured = {}
        return other

    def restrict(self, places: Sequence[Node | Port]) -> None:
        """Plan no more than what leads to ``places``, their own nodes included."""
        self.restricted = True
        own = {owner(place) for place in places}
        needed = leading_to(self.order, own)
        self.order = [node for node in self.order if node in needed or node in own]

    def capture(self, places: Sequence[Node | Port]) -> None:
        """Plan no more than what it takes to know the gradients that arrive at ``places``.

        They come to ``captured``, and nothing is accumulated; None stands for a place that
        nothing reached.
        """
        self.restricted = True
        self.captured = dict.fromkeys(places)
        for place in self.captured:
            self._captures.setdefault(owner(place), []).append(place)
        own = set(self._captures)
        needed = leading_to(self.order, own)
        self._ends = own - needed
        self.order = [node for node in self.order if node in needed or node in own]

    # the loop that keeps nothing

    def run(self, start: int = 0, stop: int | None = None) -> None:
        """Execute plan nodes ``start`` to ``stop``, keeping nothing."""
        if self.graph:
            for _ in self.observe(start, stop):
                pass
            return
        stretch = self.order[start:stop]
        if self._captures:
            done = 0
            for index in [i for i, node in enumerate(stretch) if node in self._captures]:
                self._run(stretch[done:index])
                self.observe_node(-1, stretch[index])
                done = index + 1
            stretch = stretch[done:]
        self._run(stretch)

    def _run(self, nodes: Sequence[Node]) -> None:
        pending, keep = self.pending, self.keep
        take, waiting = pending.pop, pending.get
        for node in nodes:
            kind = GENERAL if node.hooks is not None else node.kind
            if kind == ONE_EDGE:
                g = take(node, None)
                if g is None:
                    continue
                a = node.backward(g, keep)
                if node.to is not None:
                    a = reduce_gradient(a, node.to[0])
                edge = node.i0
                g = waiting(edge)  # type: ignore[arg-type]  # a node with one edge has it
                pending[edge] = a if g is None else g + a  # type: ignore[index]
            elif kind == TWO_EDGES:
                g = take(node, None)
                if g is None:
                    continue
                a, b = node.backward(g, keep)
                to = node.to
                edge = node.i0
                if edge is not None:
                    if to is not None:
                        a = reduce_gradient(a, to[0])
                    g = waiting(edge)
                    pending[edge] = a if g is None else g + a
                edge = node.i1
                if edge is not None:
                    if to is not None:
                        b = reduce_gradient(b, to[1])
                    g = waiting(edge)
                    pending[edge] = b if g is None else g + b
            elif kind == LEAF:
                # Nothing here may hold on to the gradient, or the leaf could not take it over.
                a = b = None
                g = take(node, None)
                if g is not None:
                    node.backward(g, keep)
            else:
                g = a = b = None
                self._run_general(node)

    def _run_general(self, node: Node) -> None:
        """As the loop of ``run``, for a node with many edges, several outputs, or hooks."""
        if node.hooks is not None or node.runs_undefined:
            self.observe_node(-1, node)
            return
        pending = self.pending
        if node.ported:
            g: Any = list(self.pending.take(node, self.ports.get(node, ())))
            if all(each is None for each in g):
                return
        else:
            g = pending.pop(node, None)
            if g is None:
                return
        outgoing, to = node.backward(g, self.keep), node.to
        for number, edge in enumerate(node.all_edges):
            if edge is not None:
                a = outgoing[number]
                if a is None:
                    continue
                if to is not None:
                    a = reduce_gradient(a, to[number])
                present = pending.get(edge)
                pending[edge] = a if present is None else present + a

    # the loop that tells all

    def observe(self, start: int = 0, stop: int | None = None) -> Iterator[Step]:
        """Execute plan nodes ``start`` to ``stop``, yielding a Step after each."""
        for index, node in enumerate(self.order[start:stop], start):
            yield self.observe_node(index, node)

    def observe_node(self, index: int, node: Node) -> Step:
        """Execute ``node``, which is plan node ``index``; if it raises, nothing has happened."""
        plain = node.kind in _SPELLED_OUT and node.hooks is None and not self.graph
        if plain and node not in self._captures:
            return self._observe_plain(index, node)
        outer = evaluating.get()
        token = evaluating.set(Evaluation(node, self, 1 if outer is None else outer.depth + 1))
        incoming = self.pending.take(node, self.ports.get(node, ()))
        try:
            return self._execute(index, node, incoming)
        except BaseException:
            self.pending.put_back(
                node, self.ports.get(node, ()), incoming
            )  # a node that raised has not run
            raise
        finally:
            evaluating.reset(token)

    def _observe_plain(self, index: int, node: Node) -> Step:
        """As ``_execute``, for a node as ``_run`` spells it out: a third of the time."""
        pending = self.pending
        g = pending[node]
        a = b = None
        if node.kind == ONE_EDGE:
            if g is not None:
                a = node.backward(g, self.keep)
                if node.to is not None:
                    a = reduce_gradient(a, node.to[0])
            deliveries: tuple[Delivery, ...] = (self._deliver(0, node.i0, a),)
        else:
            if g is not None:
                a, b = node.backward(g, self.keep)
                if node.to is not None:
                    a, b = reduce_gradient(a, node.to[0]), reduce_gradient(b, node.to[1])
            deliveries = self._deliver_all((node.i0, node.i1), (a, b))
        pending.pop(node, None)
        return Step(index, node, (g,), (g,), deliveries)

    def _execute(self, index: int, node: Node, incoming: tuple[Gradient, ...]) -> Step:
        if node in self._ends:
            hooked = tensor_hooks(node, incoming, self.graph)
            return Step(index, node, incoming, hooked, (), captured=self._capture(node, hooked))
        # as in PyTorch, hooks change what this node goes on with, not what is captured here
        captured = self._capture(node, incoming)
        hooked = before_node(node, incoming, self.graph)
        if node.kind == LEAF:
            return self._accumulate(index, node, incoming, hooked)
        outgoing = self._outgoing(node, hooked)
        outgoing = after_node(node, outgoing, hooked, self.graph)
        deliveries = self._deliver_all(node.edges, outgoing)
        return Step(index, node, incoming, hooked, deliveries, captured=captured)

    def _capture(
        self, node: Node, gradients: tuple[Gradient, ...]
    ) -> tuple[tuple[Node | Port, Gradient], ...]:
        found = tuple(
            (place, gradients[place.nr if type(place) is Port else 0])
            for place in self._captures.get(node, ())
        )
        self.captured.update(found)
        return found

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
        if node.runs_undefined:  # its hooks see what it gave for inputs that need nothing, too
            return [
                validated(node, number, edge, gradient)
                for number, (edge, gradient) in enumerate(zip(edges, outgoing, strict=True))
            ]
        return [
            None if e is None else gradient for e, gradient in zip(edges, outgoing, strict=True)
        ]

    def _deliver_all(
        self, edges: Sequence[Edge], outgoing: Sequence[Gradient]
    ) -> tuple[Delivery, ...]:
        done: list[Delivery] = []
        try:
            for output_nr, (edge, gradient) in enumerate(zip(edges, outgoing, strict=True)):
                done.append(self._deliver(output_nr, edge, gradient))
        except BaseException:  # a sum of shapes that do not fit: nothing of it has happened
            for delivery in reversed(done):
                if delivery.edge is not None:
                    self.pending[delivery.edge] = delivery.before
            raise
        return tuple(done)

    def _deliver(self, output_nr: int, edge: Edge, gradient: Gradient) -> Delivery:
        if edge is None:
            return Delivery(output_nr, None, None, None, None)
        before = self.pending[edge]
        if gradient is None:
            return Delivery(output_nr, edge, None, before, before)
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
        leaf_accumulated(node, g, self.graph)
        after = None if leaf.grad is None else leaf.grad.array.copy()
        return Step(index, node, incoming, hooked, (), before, after)


running: ContextVar[GraphTask | None] = ContextVar("autograd_core_running", default=None)
"""The pass that is at work, of passes within passes the innermost one."""


class Evaluation(NamedTuple):
    """A node that is running user code: a custom Function, or hooks."""

    node: Node
    task: GraphTask
    depth: int  # how many passes run around it, its own included


evaluating: ContextVar[Evaluation | None] = ContextVar("autograd_core_evaluating", default=None)
