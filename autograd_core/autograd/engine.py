"""The backward pass.

Nodes run in the order of a plan: the one whose op ran last in the forward pass runs first.  Each
takes the gradients that wait in its buffer, computes those of its inputs, and adds these to the
buffers of the nodes that made the inputs.  The node of a leaf, an AccumulateGrad, adds to its
``.grad``.  ``docs/concepts/autograd_in_200_lines.rst`` is the way in.

:func:`run_reference` is a whole pass in plain steps; only tests call it.  :class:`GraphTask` runs a
pass by one of two loops: ``run`` keeps nothing, ``observe`` tells what each node did.  Both add
gradients in the order and grouping of the reference; property tests hold them to it, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple, Self

from autograd_core.autograd.accumulate import LARGE, AccumulateGrad, add_large
from autograd_core.autograd.node import GENERAL, LEAF, ONE_EDGE, TWO_REDUCED, Edge, Node, Port
from autograd_core.autograd.plan import leading_to, make_plan, owner
from autograd_core.autograd.reduce import Gradient, reduce_gradient, reduce_outgoing
from autograd_core.autograd.run_hooks import run_post_hooks, run_pre_hooks, run_tensor_hooks
from autograd_core.autograd.step import Delivery, Step, new_delivery, new_step


class Buffers(dict[Node | Port, Gradient]):
    """Input buffers; one that is not listed is empty, as is one that holds None.

    The pass lists only what waits: few places at any time, so that the dictionary stays within
    the processor's caches whatever the size of the graph.
    """

    def __missing__(self, place: Node | Port) -> None:
        return None

    def take(self, node: Node, ports: Sequence[Port]) -> tuple[Gradient, ...]:
        """Empty the buffers of ``node``, one per output of its forward op."""
        if not node.ported:
            return (self.pop(node, None),)
        incoming: list[Gradient] = [None] * node.output_count
        for port in ports:
            incoming[port.nr] = self.pop(port, None)
        return tuple(incoming)


def run_reference(task: GraphTask) -> None:
    """Carry out ``task`` as plainly as possible: node by node pop, call, reduce and add."""
    for node in task.order:
        run_node(task, node)


def run_node(task: GraphTask, node: Node, index: int = 0) -> Step:
    """Run one node of ``task``, and return what it did."""
    incoming = task.pending.take(node, task.ports.get(node, ()))  # pop
    with evaluation(task, node):
        hooked = receive(task, node, incoming)
        outgoing = call(task, node, hooked)
    edges = enumerate(() if node in task.ends else node.edges)
    deliveries = tuple([deliver(task.pending, nr, edge, outgoing[nr]) for nr, edge in edges])  # add
    places = task.captures.get(node, ())
    captured = tuple((place, task.captured[place]) for place in places) if places else ()
    return new_step((index, node, incoming, hooked, deliveries, None, None, captured))


def deliver(pending: Buffers, nr: int, edge: Edge, g: Gradient) -> Delivery:
    """Add what a node sends along its edge ``nr`` to what waits there."""
    if edge is None:
        return new_delivery((nr, None, None, None, None))
    before = after = pending.get(edge)
    if g is not None:
        after = pending[edge] = g if before is None else before + g
    return new_delivery((nr, edge, g, before, after))


def call(task: GraphTask, node: Node, incoming: tuple[Gradient, ...]) -> Sequence[Gradient]:
    """Call ``node``; return a gradient per edge, reduced to the input that it is for."""
    if node in task.ends:
        return ()
    if node.runs_undefined or any(g is not None for g in incoming):
        g: Any = list(incoming) if node.ported else incoming[0]
        result = node.backward_graph(g) if task.graph else node.backward(g, task.keep)  # call
        result = (result,) if node.kind == ONE_EDGE else result
        outgoing = () if node.kind == LEAF else reduce_outgoing(node, result)
        if task.graph and not task.keep:
            node.release()
    else:
        outgoing = (None,) * len(node.edges)
    return run_post_hooks(node, outgoing, incoming, task.graph)


def receive(task: GraphTask, node: Node, incoming: tuple[Gradient, ...]) -> tuple[Gradient, ...]:
    """Run the hooks before ``node``, which may replace what it gets, and capture what ``grad``
    asked for."""
    if node in task.ends:
        incoming = run_tensor_hooks(node, incoming, task.graph)
    for place in task.captures.get(node, ()):
        # as in PyTorch, hooks change what this node goes on with, not what is captured here
        task.captured[place] = incoming[place.nr if type(place) is Port else 0]
    return incoming if node in task.ends else run_pre_hooks(node, incoming, task.graph)


class GraphTask:
    """One backward pass: its plan, and the gradients that wait in input buffers.

    ``pending`` maps every place a gradient can arrive at (a node, or a port of one) to the
    sum of what has arrived there so far, None for nothing.  All state is here, none on the
    nodes, so that passes can nest, run in several threads, be paused and be forked.
    """

    __slots__ = (
        "__weakref__", "captured", "captures", "ends", "graph", "keep", "order", "pending", "plan",
        "ports", "restricted",
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
        self.captures: dict[Node, list[Node | Port]] = {}  # the places of each node
        self.ends: set[Node] = set()  # of these nodes, those that are planned for nothing else
        self.restricted = False  # to what some places need
        for root, seed in zip(roots, seeds, strict=True):
            present = self.pending.get(root)
            self.pending[root] = seed if present is None else present + seed

    def fork(self, pending: dict[Node | Port, Gradient]) -> Self:
        """Return a pass over the same plan that goes its own way from what ``pending`` holds."""
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
        self._leave_out({owner(place) for place in places})

    def capture(self, places: Sequence[Node | Port]) -> None:
        """Plan no more than what it takes to know the gradients that arrive at ``places``.

        They come to ``captured``, and nothing is accumulated; None stands for a place that
        nothing reached.
        """
        self.restricted = True
        self.captured = dict.fromkeys(places)
        for place in self.captured:
            self.captures.setdefault(owner(place), []).append(place)
        own = set(self.captures)
        needed = self._leave_out(own)
        self.ends |= own - needed

    def _leave_out(self, own: set[Node]) -> set[Node]:
        """Plan only the nodes ``own`` and those that lead to them; return the latter.

        As in PyTorch, the hooks of a root's tensor are called even if it leads to none, but not
        where there are several roots.
        """
        needed = leading_to(self.order, own)
        self.order = [node for node in self.order if node in needed or node in own]
        if not self.order and len(self.pending) == 1 and self.plan.order[0].hooks is not None:
            self.order = self.plan.order[:1]
            self.ends = set(self.order)
        return needed

    # the loop that keeps nothing

    def run(self, start: int = 0, stop: int | None = None) -> None:
        """Execute plan nodes ``start`` to ``stop``, keeping nothing."""
        nodes = self.order[start:stop]
        done = 0
        for index, node in enumerate(nodes if self.graph or self.captures else ()):
            if self.graph or node in self.captures:
                self._run(nodes[done:index])
                run_node(self, node)
                done = index + 1
        self._run(nodes[done:])

    def _run(self, nodes: Sequence[Node]) -> None:
        """As :func:`run_node` for each of ``nodes``, with the usual kinds inlined: a node of one
        element takes 2 to 4 us, and 12 to 16 by ``run_node``."""
        pending = self.pending
        keep = self.keep or None  # a gradient that nobody else has may then be written over
        take, waiting = pending.pop, pending.get
        # One buffer is here: most gradients wait for the next node, past the dictionary.  It is
        # never that of a Port, which is known by its value, not its identity.
        place: Any = None
        held: Gradient = None
        a: Any  # what a node sends along its edges
        b: Any
        for node in nodes:
            notes = node.notes
            kind = node.kind if notes is None or notes.hooks is None else GENERAL
            if kind == GENERAL:
                if place is not None:
                    pending[place] = held
                g = a = b = place = held = None
                if node.hooks is None and not node.runs_undefined:
                    self._run_general(node)
                else:
                    run_node(self, node)
                continue
            if node is place:
                g = held
                place = held = None
            else:
                g = take(node, None)
            if g is None:
                continue
            if kind == ONE_EDGE:
                a = b = None  # which may be this gradient
                a = node.backward(g, keep)
                if node.to is not None:
                    a = reduce_gradient(a, node.to[0])
                edge: Any = node.i0
                on: Any = None
            elif kind == LEAF:
                # Nothing here may hold on to the gradient, or the leaf could not take it over.
                a = b = None
                node.backward(g, keep)
                continue
            else:
                a, b = node.backward(g, keep)
                if kind == TWO_REDUCED:
                    to: Any = node.to
                    if to is not None:
                        first, second = to
                        if first is not None:
                            a = reduce_gradient(a, first)
                        if second is not None:
                            b = reduce_gradient(b, second)
                edge, on = node.i0, node.i1
                if edge is None:
                    if on is None:
                        continue
                    edge, a, on = on, b, None
            while True:
                if edge is place:
                    g = held
                    held = g + a if g.size < LARGE else add_large(g, a)
                else:
                    g = waiting(edge) if pending else None  # in a chain, nothing waits there
                    if g is not None:
                        pending[edge] = g + a if g.size < LARGE else add_large(g, a)
                    elif place is None and type(edge) is not Port:
                        place, held = edge, a
                    else:
                        pending[edge] = a
                if on is None:
                    break
                edge, a, on = on, b, None
        if place is not None:
            pending[place] = held

    def _run_general(self, node: Node) -> None:
        """As :func:`run_node`, for a node with many edges or several outputs; 7 to 12 us less."""
        pending = self.pending
        if node.ported:
            g: Any = list(pending.take(node, self.ports.get(node, ())))
            if all(gradient is None for gradient in g):
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
                if present is not None:
                    a = present + a if present.size < LARGE else add_large(present, a)
                pending[edge] = a

    # the loop that tells all

    def observe(
        self, start: int = 0, stop: int | None = None, *, copy_grads: bool = True
    ) -> Iterator[Step]:
        """Execute plan nodes ``start`` to ``stop``, yielding a Step after each.

        Whoever has something to do around a node (time it, keep its state) takes the steps one
        by one with ``next``.  If a node raises, nothing of it has happened.  Without
        ``copy_grads``, steps do not tell a leaf's ``.grad`` before and after.
        """
        plain = not self.graph
        for index, node in enumerate(self.order[start:stop], start):
            if plain and node.hooks is None and node.kind >= ONE_EDGE and node not in self.captures:
                yield self._observe_inlined(index, node)
            else:
                yield self._observe_node(index, node, copy_grads)

    def _observe_node(self, index: int, node: Node, copy_grads: bool) -> Step:
        """As :func:`run_node`, with what becomes of a leaf's ``.grad``."""
        pending, leaf = self.pending, None
        before = after = None
        if copy_grads and type(node) is AccumulateGrad:
            leaf = node.variable
            before = None if leaf.grad is None else leaf.grad.array.copy()
        places = (node, *self.ports.get(node, ()), *node.edges)
        waiting = [(place, pending.get(place)) for place in places if place is not None]
        try:
            step = run_node(self, node, index)
        except BaseException:
            pending.update(waiting)
            raise
        if leaf is not None:
            after = None if leaf.grad is None else leaf.grad.array.copy()
            return step._replace(before=before, after=after)
        return step

    def _observe_inlined(self, index: int, node: Node) -> Step:
        """As ``_observe_node``, for the nodes that ``_run`` inlines too; a third of the time."""
        pending = self.pending
        g = pending.get(node)
        edge, on = node.i0, node.i1
        a = b = None
        if node.kind == ONE_EDGE:
            if g is not None:
                a = node.backward(g, self.keep)
                if node.to is not None:
                    a = reduce_gradient(a, node.to[0])
            deliveries: tuple[Delivery, ...] = (deliver(pending, 0, edge, a),)
        else:
            if g is not None:
                a, b = node.backward(g, self.keep)
                if node.to is not None:
                    a, b = reduce_gradient(a, node.to[0]), reduce_gradient(b, node.to[1])
            first = deliver(pending, 0, edge, a)
            try:
                deliveries = (first, deliver(pending, 1, on, b))
            except BaseException:  # a sum of shapes that do not fit: nothing of it has happened
                if edge is not None:
                    pending[edge] = first.before
                raise
        pending.pop(node, None)
        return new_step((index, node, (g,), (g,), deliveries, None, None, ()))


running: ContextVar[GraphTask | None] = ContextVar("autograd_core_running", default=None)
"""The pass that is at work, of passes within passes the innermost one."""


class Evaluation(NamedTuple):
    """A node that is running user code: a custom Function, or hooks."""

    node: Node
    task: GraphTask
    depth: int  # how many passes run around it, its own included


evaluating: ContextVar[Evaluation | None] = ContextVar("autograd_core_evaluating", default=None)


class evaluation:
    """The evaluation of a node of a pass: what runs inside can ask for it."""

    __slots__ = ("_node", "_task", "_token")

    def __init__(self, task: GraphTask, node: Node) -> None:
        self._task, self._node = task, node

    def __enter__(self) -> None:
        outer = evaluating.get()
        depth = 1 if outer is None else outer.depth + 1
        self._token = evaluating.set(Evaluation(self._node, self._task, depth))

    def __exit__(self, *error: object) -> None:
        evaluating.reset(self._token)
