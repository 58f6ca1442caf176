"""The loop that tells all: what each node got, gave, and changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.deliver import Gradient, reduce_gradient, validated
from autograd_core.autograd.firing import (
    after_node,
    before_node,
    leaf_accumulated,
    tensor_hooks,
)
from autograd_core.autograd.node import LEAF, ONE_EDGE, TWO_EDGES, Edge, Node, Port
from autograd_core.autograd.task import PlannedTask

_SPELLED_OUT = (ONE_EDGE, TWO_EDGES)


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
    around the accumulation (copies, None where there was none).  ``captured`` is what ``grad``
    takes away here, by place; a node that runs for nothing else has no deliveries.
    """

    index: int  # type: ignore[assignment]  # the field hides a method of tuples, on purpose
    node: Node
    incoming: tuple[Gradient, ...]
    hooked: tuple[Gradient, ...]
    deliveries: tuple[Delivery, ...]
    before: Gradient = None
    after: Gradient = None
    captured: tuple[tuple[Node | Port, Gradient], ...] = ()


class Evaluation(NamedTuple):
    """A node that is running code of the user's: a custom Function, or hooks."""

    node: Node
    task: ObservableTask
    depth: int  # how many passes run around it, its own included


evaluating: ContextVar[Evaluation | None] = ContextVar("autograd_core_evaluating", default=None)


class ObservableTask(PlannedTask):
    """A backward pass that can be carried out one observed node at a time."""

    __slots__ = ()

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
        incoming = self._take(node)
        try:
            return self._execute(index, node, incoming)
        except BaseException:
            self._put_back(node, incoming)  # a node that raised has not run
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
